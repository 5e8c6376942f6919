import { setImmediate } from "node:timers/promises";
import { AbortSource, type AbortSignalLike } from "@tributary/kit/http/abort-source";
import { measurePromotedMb } from "@tributary/kit/testing/promoted-bytes";
import { afterEach, expect, test, vi } from "vitest";
import { toMaskedCode } from "../../../errors/codes.ts";
import { withJoining } from "./fetch-joining.ts";
import type { EntityList, ReadParts } from "./request-body.ts";
import type { SubgraphRequest } from "./subgraph-request.ts";
import type { FetchResult } from "./subgraph-response.ts";
import { toRead, toResult } from "./testing/reads.ts";
import { toSubgraph } from "./testing/subgraphs.ts";

/* gateway/test/fetch-joining.test.ts compares responses with those of fetches that are sent alone. */

const responseRule = "headers: { all: { response: [{ propagate: { named: x-a } }] } }";
const head = '{"query":"query($representations:[_Any!]!){_entities(representations:$representations){x}}"';

afterEach(() => {
  vi.useRealTimers();
});

test("fetches of one turn of the event loop are one request", async () => {
  const { join, bodies, joined } = setUp();
  const results = [join(["1", "2"]), join(["2", "3"])];
  expect(bodies).toEqual([]);
  await setImmediate();
  const later = join(["1"]);
  expect(await Promise.all([...results, later])).toEqual([
    toResult({ _entities: ["e1", "e2"] }),
    toResult({ _entities: ["e2", "e3"] }),
    toResult({ _entities: ["e1"] }),
  ]);
  expect(bodies).toEqual([`${head},"variables":{"representations":[1,2,3]}}`, "alone"]);
  expect(joined).toEqual(["notes", "notes counted"]);
});

test("a response is collected with the young generation", () => {
  // 20,000 responses of 2 KB, four at a time: 40 MB. Measured: 10 MB, and 56 MB with one Map for all turns.
  expect(measurePromotedMb(new URL("testing/join-churn.ts", import.meta.url))).toBeLessThan(25);
});

test.each<[string, Partial<SubgraphRequest>]>([
  ["depends on a token", { authorization: "Bearer a" }],
  ["depends on receipts", { receipts: '"r"' }],
  ["depends on a forwarded header", { forwarded: { list: ["x-tenant", "a"], varying: "x-tenant:a\n" } }],
  ["is within a mutation", { isShareable: false }],
  ["may be stored by caches", { wantsCaching: true }],
  ["is read through the entity cache", { cache: {} as NonNullable<SubgraphRequest["cache"]> }],
  ["has response headers for the client", { subgraph: toSubgraph({}, responseRule) }],
  ["is for root fields", { parts: { head, responseForm: undefined, variables: "", lists: [] } }],
])("a fetch that %s is sent alone and at once", (_, own) => {
  const { join, bodies } = setUp();
  void join(["1"], own);
  void join(["2"], own);
  expect(bodies).toEqual(["alone", "alone"]);
});

test.each<[string, Partial<SubgraphRequest>]>([
  ["count of settled writes", { settledWrites: 1 }],
  ["count of changes of the feed", { feedChanges: 1 }],
  ["subgraph", { subgraph: toSubgraph({ name: "orders" }) }],
  ["variable", { parts: toParts(["2"], { variables: '"unit":"kg"' }) }],
  ["text", { parts: toParts(["2"], { head: '{"query":"{ other }"' }) }],
])("fetches that differ in their %s are sent separately", async (_, other) => {
  const { join, bodies } = setUp();
  void join(["1"]);
  void join(["2"], other);
  void join(["3"], other);
  await setImmediate();
  expect(bodies).toHaveLength(2);
});

test("a request has at most 100 representations, and 100,000 characters", async () => {
  const { join, bodies } = setUp();
  const many = Array.from({ length: 10 }, (_, i) => String(i));
  for (let client = 0; client < 11; client++) void join(many);
  await setImmediate();
  expect(bodies.map((body) => body === "alone")).toEqual([false, true]);
  const body = "x".repeat(60_000);
  void join(["1"], { body });
  void join(["2"], { body });
  await setImmediate();
  expect(bodies.slice(2)).toEqual([body, body]);
});

test("a client request with more than 10 representations is sent alone at once", async () => {
  const { join, bodies } = setUp();
  const many = Array.from({ length: 11 }, (_, i) => String(i));
  void join(many);
  void join(many);
  expect(bodies).toEqual(["alone", "alone"]);
});

test("the request is aborted with its last client; one whose clients have left is not sent and not joined", async () => {
  const { join, bodies, signals } = setUp({ isFrozen: true });
  const clients = Array.from({ length: 4 }, () => new AbortSource());
  for (const client of clients.slice(0, 2)) void join(["1"], {}, client);
  await setImmediate();
  clients[0]?.abort("disconnected");
  expect(signals[0]?.aborted).toBe(false);
  clients[1]?.abort("timeout");
  expect(signals[0]?.reason).toBe("timeout");
  const left = join(["1"], {}, clients[2]);
  clients[2]?.abort("disconnected");
  void join(["2"], {}, clients[3]);
  expect(await left).toMatchObject({ kind: "abandoned" });
  await setImmediate();
  expect(bodies).toHaveLength(2);
});

test("the fetch of a caller that has its share of the subgraph is sent alone and at once", () => {
  const { join, bodies } = setUp({ fullCaller: "a" });
  void join(["1"], { scope: toRead("", { callerKey: "a" }).scope });
  void join(["2"], { scope: toRead("", { callerKey: "b" }).scope });
  expect(bodies).toEqual(["alone"]);
});

test("if the joined request was not sent, each client's own one is, without a retry of the budget or a pause", async () => {
  const { join, bodies, answer } = setUp({ retries: 0 });
  const unsent = { kind: "failed", code: "SUBGRAPH_UNAVAILABLE", cause: undefined, replica: undefined } as const;
  const left = new AbortSource();
  answer.push(unsent, unsent);
  const results = [join(["1"]), join(["2"]), join(["3"], {}, left)];
  await Promise.resolve();
  left.abort("timeout");
  expect(await Promise.all(results)).toMatchObject([
    unsent,
    toResult({ _entities: ["e2"] }),
    { code: "SUBGRAPH_TIMEOUT" },
  ]);
  expect(bodies).toHaveLength(3);
  void join(["1"]);
  expect(bodies).toHaveLength(3);
});

test("a joined request that takes longer than 500 ms ends joining before it ends", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { join, bodies } = setUp({ isFrozen: true });
  for (const id of ["1", "2"]) void join([id]);
  await setImmediate();
  vi.advanceTimersByTime(500);
  void join(["3"]);
  expect(bodies).toHaveLength(2);
});

test("a joined request that fails by a timeout is not repeated, and ends joining", async () => {
  const { join, bodies, answer } = setUp();
  const late = { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: undefined, replica: "a" } as const;
  answer.push(late);
  expect(await Promise.all([join(["1"]), join(["2"])])).toEqual([late, late]);
  expect(bodies).toHaveLength(1);
  void join(["3"]);
  expect(bodies).toHaveLength(2);
});

test("a joined request that all clients have left does not end joining", async () => {
  const clients = [new AbortSource(), new AbortSource()];
  let sentCount = 0;
  const fetch = withJoining(() => {
    sentCount++;
    for (const client of clients) client.abort("timeout");
    return Promise.resolve({ kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: undefined, replica: "a" });
  });
  const read = { ...toRead("alone"), parts: toParts(["1"]) };
  await Promise.all(clients.map((client) => fetch(read, client)));
  void fetch(read, new AbortSource());
  expect(sentCount).toBe(1);
});

test("if the budget has no retry, each client gets the failure of the joined request", async () => {
  const { join, answer } = setUp({ retries: 1 });
  const error = { message: "too many", path: undefined, extensions: {}, public: undefined };
  answer.push({ ...toResult({}), data: null, errors: [error], isDocumentRejected: true });
  const results = await Promise.all([join(["1"]), join(["2"])]);
  expect(results[0]).toEqual(toResult({ _entities: ["e1"] }));
  expect(results[1]).toMatchObject({ data: null, errors: [error], isDocumentRejected: true });
});

test("if the budget has no retry, no client gets an error in another one's entity", async () => {
  const { join, answer } = setUp({ retries: 0 });
  const publicError = { code: "NOT_FOUND", message: "no e2", extensions: {} } as const;
  const error = { message: "no e2", path: ["_entities", 1, "x"], extensions: {}, public: publicError };
  answer.push({ ...toResult({}), data: null, errors: [error] });
  const results = await Promise.all([join(["1"]), join(["2"])]);
  const neutral = { message: "", path: undefined, extensions: { code: "SERVICE_UNAVAILABLE" }, public: undefined };
  expect(results).toMatchObject([
    { data: null, errors: [neutral] },
    { data: null, errors: [{ ...error, path: ["_entities", 0, "x"] }] },
  ]);
  // The code that the client gets.
  expect(toMaskedCode(neutral.extensions.code)).toBe("SUBGRAPH_UNAVAILABLE");
});

test("an error in an entity is for the clients that requested it, with their index", async () => {
  const { join, answer } = setUp();
  const error = { message: "", path: ["_entities", 2, "x", 0], extensions: {}, public: undefined };
  answer.push({ ...toResult({ _entities: ["e1", "e2", null] }), errors: [error] });
  const results = await Promise.all([join(["1", "2"]), join(["3", "1"]), join(["2", "3"])]);
  const own = { ...error, path: ["_entities", 0, "x", 0] };
  expect(results).toMatchObject([
    { data: { _entities: ["e1", "e2"] }, errors: [] },
    { data: { _entities: [null, "e1"] }, errors: [own] },
    { data: { _entities: ["e2", null] }, errors: [{ ...error, path: ["_entities", 1, "x", 0] }] },
  ]);
});

test("a bug rejects each fetch", async () => {
  const fetch = withJoining(() => Promise.reject(new Error("bug")));
  const results = ["1", "2"].map((id) => fetch({ ...toRead("alone"), parts: toParts([id]) }, new AbortSource()));
  for (const { status } of await Promise.allSettled(results)) expect(status).toBe("rejected");
});

function toParts(ids: readonly string[], parts: Partial<ReadParts> = {}): ReadParts {
  const list: EntityList = {
    variable: "representations",
    entitiesKey: "_entities",
    representations: { count: ids.length, textOf: (index) => ids[index] ?? "" },
    isRequested: () => true,
  };
  return { head, responseForm: undefined, variables: "", lists: [list], ...parts };
}

/** The body of a fetch that is sent alone is `alone`. */
function setUp({ isFrozen = false, retries = 100, fullCaller = "" } = {}) {
  const bodies: string[] = [];
  const signals: AbortSignalLike[] = [];
  const joined: string[] = [];
  /** Instead of the right results. */
  const answer: FetchResult[] = [];
  let retriesLeft = retries;
  const subgraph = toSubgraph({
    isFull: (caller) => caller === fullCaller,
    takeRetry: () => retriesLeft-- > 0,
    noteShared: () => void joined.push("notes counted"),
  });
  const send = async ({ body, parts }: SubgraphRequest, signal: AbortSignalLike): Promise<FetchResult> => {
    bodies.push(body);
    signals.push(signal);
    if (isFrozen) return new Promise(() => {});
    const scripted = answer.shift();
    if (scripted) return scripted;
    const [list] = parts.lists;
    const sent = /\[([\d,]*)\]\}\}$/.exec(body)?.[1]?.split(",");
    const own = Array.from({ length: list?.representations.count ?? 0 }, (_, i) => list?.representations.textOf(i));
    return toResult({ _entities: (sent ?? own).map((id) => `e${id}`) });
  };
  const joining = withJoining(send, { share: (service) => void joined.unshift(service) });
  const join = (
    ids: readonly string[],
    own: Partial<SubgraphRequest> = {},
    signal: AbortSignalLike = new AbortSource(),
  ) => joining({ ...toRead("alone"), subgraph, parts: toParts(ids), ...own }, signal);
  return { join, bodies, signals, joined, answer };
}
