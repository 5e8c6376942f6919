import fc from "fast-check";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type Dice, createDice } from "./differential/dice.ts";
import { passTime } from "./helpers/clock.ts";
import { isMirrored } from "./helpers/compare-paths.ts";
import { type GraphqlResponse, type RunningGateway, type SendOptions, startGateway } from "./helpers/gateway.ts";
import {
  composeSupergraph,
  type Fault,
  respondJson,
  type RunningSubgraph,
  startSubgraph,
} from "./helpers/subgraphs.ts";

/* Entity fetches of different client requests are sent as one. No response may depend on it: a gateway with FETCH_SHARING=false sends each alone. */

let catalog: RunningSubgraph;
let stock: RunningSubgraph;
let joining: RunningGateway;
let alone: RunningGateway;

/** Responses of the catalog, which are sent at once when this many wait. */
let heldCount = 0;
let held: (() => void)[] = [];

beforeAll(async () => {
  [catalog, stock] = await Promise.all([startCatalog(), startStock()]);
  const supergraphSdl = composeSupergraph([catalog, stock]);
  const start = (environment: Record<string, string>) =>
    startGateway({ supergraphSdl, environment: { ...environment, SUBGRAPH_BODY_BYTES_MAX: "20000" } });
  [joining, alone] = await Promise.all([start({}), start({ FETCH_SHARING: "false" })]);
  catalog.fault = async (response, _body, { headers }, resolveCorrectly) => {
    const text = JSON.stringify(await resolveCorrectly());
    if (isMirrored(headers)) return respondJson(response, 200, text);
    held.push(() => respondJson(response, 200, text));
    if (held.length < heldCount) return;
    for (const release of held) release();
    held = [];
  };
  stock.fault = faultOfStock;
});
// The pause after a failure is over.
beforeEach(() => passTime(60_001));
afterAll(async () => {
  vi.restoreAllMocks();
  await Promise.all([joining.drain(), alone.drain()]);
  await Promise.all([catalog.close(), stock.close()]);
});

test("entities that different clients need at the same time are one request, in which each is once", async () => {
  const responses = await sendAll(joining, [toRequest(["a1", "a2"]), toRequest(["a2", "a3"]), toRequest(["a1"])]);
  expect(responses.map(({ body }) => body.data.items.map(({ count }: { count: number }) => count))).toEqual([
    [1, 2],
    [2, 3],
    [1],
  ]);
  expect(takeStockRequests()).toEqual([["a1", "a2", "a3"]]);
});

test("each response equals that of a gateway that joins nothing", { timeout: 120_000 }, async () => {
  let joinedCount = 0;
  const property = fc.asyncProperty(fc.array(fc.nat(10_000), { minLength: 80, maxLength: 150 }), async (numbers) => {
    passTime(60_001);
    const requests = createRequests(createDice(numbers));
    const expected = await sendAll(alone, requests);
    const sentAlone = takeStockRequests().length;
    const received = await sendAll(joining, requests);
    const sent = takeStockRequests().length;
    if (sent < sentAlone) joinedCount++;
    expect(received.map(toComparable)).toEqual(expected.map(toComparable));
  });
  await fc.assert(property, { numRuns: 60, seed: 7 });
  expect(joinedCount).toBeGreaterThan(20);
});

test("what depends on a client is fetched for it alone", async () => {
  const requests = ["a", "b", undefined, "a", undefined].map((token) =>
    toRequest(["a1"], { ...(token && { headers: { authorization: `Bearer ${token}` } }) }, "seenBy"),
  );
  const responses = await sendAll(joining, requests);
  expect(responses.map(({ body }) => body.data.items[0].seenBy)).toEqual([
    "Bearer a",
    "Bearer b",
    "no caller",
    "Bearer a",
    "no caller",
  ]);
  expect(takeStockRequests()).toHaveLength(3);
});

test("after a failure that joining may have caused, each fetch is sent alone for a minute", async () => {
  const requests = [toRequest(["a1"]), toRequest(["reject1"]), toRequest(["a2"])];
  const [first, rejected, third] = await sendAll(joining, requests);
  expect(first?.body).toEqual({ data: { items: [{ id: "a1", count: 1 }] } });
  expect(rejected?.body.errors).toHaveLength(1);
  expect(third?.body).toEqual({ data: { items: [{ id: "a2", count: 2 }] } });
  expect(takeStockRequests()).toHaveLength(4);
  const harmless = [toRequest(["a1"]), toRequest(["a2"])];
  await sendAll(joining, harmless);
  expect(takeStockRequests()).toHaveLength(2);
  passTime(60_001);
  await sendAll(joining, harmless);
  expect(takeStockRequests()).toHaveLength(1);
});

test("a client that disconnects ends no joined fetch of another", async () => {
  const leaving = new AbortController();
  const release = Promise.withResolvers<void>();
  stock.fault = async (response, _body, _request, resolveCorrectly) => {
    leaving.abort();
    await joining.seen("client-disconnected");
    respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
    release.resolve();
  };
  const requests = [toRequest(["a1"], { signal: leaving.signal }), toRequest(["a2"])];
  heldCount = 2;
  const [left, stayed] = await Promise.allSettled(requests.map(({ query, o }) => joining.send(query, o)));
  await release.promise;
  stock.fault = faultOfStock;
  expect(left?.status).toBe("rejected");
  expect(stayed).toMatchObject({ value: { body: { data: { items: [{ id: "a2", count: 2 }] } } } });
  expect(takeStockRequests()).toEqual([["a1", "a2"]]);
});

interface OperationRequest {
  readonly query: string;
  readonly o: SendOptions;
}

let requestsCount = 0;

/** @param selection of each item, with the variable `$unit`. Each root fetch is unique, so that only entity fetches can meet. */
function toRequest(ids: readonly string[], o: SendOptions = {}, selection = "count"): OperationRequest {
  const parameters = selection.includes("$unit") ? "($ids: [ID!]!, $n: Int, $unit: String)" : "($ids: [ID!]!, $n: Int)";
  const query = `query ${parameters} { items(ids: $ids, n: $n) { id ${selection} } }`;
  return { query, o: { ...o, variables: { ids, n: requestsCount++, ...o.variables } } };
}

/** What an entity of this kind does to its response (`faultOfStock`). */
const harmlessKinds = ["a", "a", "a", "null", "error", "strict", "other", "slow"];
const harmfulKinds = ["reject", "vague", "nameless", "short", "huge", "status", "html"];
const selections = [
  "count",
  "count label",
  "t: count(unit: $unit)",
  "count place { id city }",
  "label place { id size }",
];

function createRequests(dice: Dice): readonly OperationRequest[] {
  const kinds = dice.chance(30) ? [...harmlessKinds, dice.pick(harmfulKinds)] : harmlessKinds;
  return Array.from({ length: 2 + dice.roll(7) }, () => {
    const ids = Array.from({ length: 1 + dice.roll(4) }, () => `${dice.pick(kinds)}${dice.roll(5)}`);
    const headers = dice.chance(20) ? { authorization: `Bearer ${dice.roll(2)}` } : {};
    return toRequest(
      [...new Set(ids)],
      { headers, variables: { unit: dice.pick(["kg", "t"]) } },
      dice.pick(selections),
    );
  });
}

async function sendAll(
  gateway: RunningGateway,
  requests: readonly OperationRequest[],
): Promise<readonly GraphqlResponse[]> {
  heldCount = requests.length;
  return Promise.all(requests.map(({ query, o }) => gateway.send(query, o)));
}

/** The order of errors means nothing. */
function toComparable({ status, body }: GraphqlResponse) {
  const errors = (body.errors as readonly object[] | undefined)?.map((error) => JSON.stringify(error)).sort();
  return { status, data: body.data as unknown, errors };
}

/** The ids of each request to the subgraph, sorted. */
function takeStockRequests(): readonly (readonly string[])[] {
  return stock.requests.splice(0).map(({ body }) => idsOf(body.variables).toSorted());
}

function idsOf(variables: Record<string, unknown>): readonly string[] {
  return Object.values(variables)
    .filter((value) => Array.isArray(value))
    .flatMap((list: readonly { id: string }[]) => list.map(({ id }) => id));
}

const faultOfStock: Fault = async (response, { variables }, _request, resolveCorrectly) => {
  const ids = idsOf(variables);
  const has = (kind: string) => ids.some((id) => id.startsWith(kind));
  const result = JSON.parse(JSON.stringify(await resolveCorrectly())) as {
    data: Record<string, unknown[]>;
    errors?: unknown[];
  };
  const respond = (body: object, status = 200) => respondJson(response, status, JSON.stringify(body));
  if (has("html")) return void response.end("<p>no GraphQL</p>");
  if (has("status")) return respond({ errors: [{ message: "too much" }] }, 413);
  if (has("reject")) return respond({ errors: [{ message: "too many representations" }] });
  const errors = [...(result.errors ?? [])];
  if (has("nameless")) errors.push({ message: "no path", extensions: { code: "NOT_FOUND" } });
  if (has("vague")) errors.push({ message: "in the list", path: ["_entities"], extensions: { code: "NOT_FOUND" } });
  if (has("short")) for (const entities of Object.values(result.data)) entities.pop();
  if (has("slow")) await wait(20);
  respond({ ...result, ...(errors.length > 0 && { errors }) });
};

function startCatalog(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "catalog",
    typeDefs: /* GraphQL */ `
      type Query {
        items(ids: [ID!]!, n: Int): [Item!]!
      }
      type Item @key(fields: "id") {
        id: ID!
        place: Place!
      }
      type Place @key(fields: "id") {
        id: ID!
      }
    `,
    resolvers: {
      Query: { items: (_: unknown, { ids }: { ids: readonly string[] }) => ids.map((id) => ({ id })) },
      Item: { place: ({ id }: { id: string }) => ({ id: id.replace("strict", "null") }) },
    },
  });
}

function startStock(): Promise<RunningSubgraph> {
  const numberOf = (id: string) => Number(id.replace(/\D+/, ""));
  const find = ({ id }: { id: string }) => {
    if (id.startsWith("null")) return null;
    return { id: id.startsWith("other") ? `a${numberOf(id)}` : id, asked: id };
  };
  const fail = (code: string, id: string) => {
    throw Object.assign(new Error(`no ${id}`), { extensions: { code } });
  };
  return startSubgraph({
    name: "stock",
    typeDefs: /* GraphQL */ `
      type Item @key(fields: "id") {
        id: ID!
        count(unit: String): Int
        label: String!
        seenBy: String
      }
      type Place @key(fields: "id") {
        id: ID!
        city: String
        size: Int!
      }
    `,
    resolvers: {
      Item: {
        __resolveReference: find,
        count: ({ asked }: { asked: string }, { unit }: { unit?: string }) =>
          asked.startsWith("error") ? fail("NOT_FOUND", asked) : numberOf(asked) * (unit === "t" ? 1_000 : 1),
        label: ({ asked }: { asked: string }) => {
          if (asked.startsWith("strict")) fail("FORBIDDEN", asked);
          return asked.startsWith("huge") ? "x".repeat(30_000) : `label of ${asked}`;
        },
        seenBy: (_: unknown, __: unknown, { headers }: { headers: { authorization?: string } }) =>
          headers.authorization ?? "no caller",
      },
      Place: {
        __resolveReference: find,
        city: ({ asked }: { asked: string }) => (asked.startsWith("error") ? fail("FORBIDDEN", asked) : asked),
        size: ({ asked }: { asked: string }) =>
          asked.startsWith("strict") ? fail("NOT_FOUND", asked) : numberOf(asked),
      },
    },
  });
}
