import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { passTime } from "./helpers/clock.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import {
  respondJson,
  composeSupergraph,
  type Fault,
  type RunningSubgraph,
  startSubgraph,
} from "./helpers/subgraphs.ts";

/* Key fields that the gateway adds to entity fetches, with subgraphs that do not return them, or return them in another form. */

const sailors = [
  { id: "a1", mail: "Ann@X.org", ship: { hull: "h1" } },
  { id: "b2", mail: "ben@x.org", ship: { hull: "h2" } },
];
const wageOf = (id: string) => (id === "a1" ? 100 : 200);
const valueOf = (hull: string) => Number(hull.slice(1));

let crew: RunningSubgraph;
let pay: RunningSubgraph;
let mails: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  [crew, pay, mails] = await Promise.all([startCrew(), startPay(), startMails()]);
});
/** Each test has another gateway, because a gateway remembers which key checks it has stopped. */
afterEach(async () => {
  await gateway.drain();
  vi.restoreAllMocks();
  for (const subgraph of [crew, pay, mails]) {
    subgraph.fault = undefined;
    subgraph.requests.length = 0;
  }
});
afterAll(async () => {
  await Promise.all([crew, pay, mails].map((subgraph) => subgraph.close()));
});

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({
    supergraphSdl: composeSupergraph([crew, pay, mails]),
    environment,
  });
  gateway.observations.length = 0;
}

const wages = "{ sailors { wage } }";
const withWages = { data: { sailors: [{ wage: 100 }, { wage: 200 }] } };
const withValues = {
  data: {
    sailors: [
      { wage: 100, ship: { value: 1 } },
      { wage: 200, ship: { value: 2 } },
    ],
  },
};

describe("a reference resolver that does not return its non-null key", () => {
  test("does not lose an entity: the fetch is repeated once without the key, and later fetches do not add it", async () => {
    await start();
    expect((await gateway.send(wages)).body).toEqual(withWages);
    expect(selectionsReceived()).toEqual(["...on Sailor{wage a_0_0_id:id}", "...on Sailor{wage}"]);
    expect((await gateway.send(wages)).body).toEqual(withWages);
    expect((await gateway.send("{ sailors { id salary: wage } }")).body.errors).toBeUndefined();
    expect(selectionsReceived().slice(2)).toEqual(["...on Sailor{wage}", "...on Sailor{a_salary:wage}"]);
    expect(gateway.observations).toEqual([{ kind: "key-check-stopped", service: "pay", type: "Sailor" }]);
  });

  test("is also detected in an entity fetch of a mutation", async () => {
    await start();
    const { body } = await gateway.send("mutation { hire { wage } }");
    expect(body).toEqual({ data: { hire: { wage: 100 } } });
    expect(crew.requests).toHaveLength(1);
    expect(pay.requests).toHaveLength(2);
  });

  test("does not stop the key checks of other types in the same request", async () => {
    await start();
    const query = "{ sailors { wage ship { value } } }";
    expect((await gateway.send(query)).body).toEqual(withValues);
    expect((await gateway.send(query)).body).toEqual(withValues);
    expect(selectionsReceived()).toEqual([
      "...on Sailor{wage a_0_0_id:id} ...on Ship{value a_0_0_hull:hull}",
      "...on Sailor{wage} ...on Ship{value a_0_0_hull:hull}",
      "...on Sailor{wage} ...on Ship{value a_0_0_hull:hull}",
    ]);
    pay.fault = swapShips;
    const { body } = await gateway.send(query);
    expect(body.data.sailors).toEqual([100, 200].map((wage) => ({ wage, ship: { value: null } })));
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_INVALID_RESPONSE", "SUBGRAPH_INVALID_RESPONSE"]);
  });

  test("does not hide another row of another type in the same response", async () => {
    await start();
    pay.fault = swapShips;
    const { body } = await gateway.send("{ sailors { wage ship { value } } }");
    expect(body.data.sailors).toEqual([100, 200].map((wage) => ({ wage, ship: { value: null } })));
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_INVALID_RESPONSE", "SUBGRAPH_INVALID_RESPONSE"]);
  });

  test("may be detected by many requests at once, each of which gets all data", async () => {
    await start();
    const callers = Array.from({ length: 40 }, (_, i) => ({ headers: { authorization: `Bearer ${i % 8}` } }));
    const responses = await Promise.all(callers.map((caller) => gateway.send(wages, caller)));
    for (const { body } of responses) expect(body).toEqual(withWages);
    expect(pay.requests.length).toBeLessThanOrEqual(80);
    expect(gateway.observations).toEqual([{ kind: "key-check-stopped", service: "pay", type: "Sailor" }]);
  });

  test("is retried within the deadline of the client's request", async () => {
    await start({ REQUEST_TIMEOUT_MS: "2000" });
    pay.fault = async (response, { query }, _, resolveCorrectly) => {
      if (query.includes(":id")) respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
    };
    const { body } = await gateway.send(wages);
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_TIMEOUT", "SUBGRAPH_TIMEOUT"]);
    expect(pay.requests).toHaveLength(2);
  });

  test("is retried once: errors of the second response are reported to the client", async () => {
    await start();
    pay.fault = (response) => {
      const path = ["_entities", 0, "a_0_0_id"];
      respondJson(response, 200, JSON.stringify({ data: { _entities: [null, { wage: 200 }] }, errors: [{ path }] }));
    };
    const { body } = await gateway.send(wages);
    expect(body.data).toEqual({ sailors: [{ wage: null }, { wage: 200 }] });
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_ERROR"]);
    expect(pay.requests).toHaveLength(2);
    await gateway.send(wages);
    expect(pay.requests).toHaveLength(3);
  });

  test("is tried again after a minute, and after twice as long if it still does not return the key", async () => {
    await start();
    const receivedAfter = async (ms: number) => {
      passTime(ms);
      pay.requests.length = 0;
      expect((await gateway.send(wages)).body).toEqual(withWages);
      return selectionsReceived();
    };
    const [withKey, withoutKey] = ["...on Sailor{wage a_0_0_id:id}", "...on Sailor{wage}"];
    expect(await receivedAfter(0)).toEqual([withKey, withoutKey]);
    expect(await receivedAfter(50_000)).toEqual([withoutKey]);
    expect(await receivedAfter(10_001)).toEqual([withKey, withoutKey]);
    expect(await receivedAfter(110_000)).toEqual([withoutKey]);
    pay.fault = returnKeys;
    expect(await receivedAfter(10_001)).toEqual([withKey]);
    pay.fault = swapSailors;
    const { body } = await gateway.send(wages);
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_INVALID_RESPONSE", "SUBGRAPH_INVALID_RESPONSE"]);
  });

  test("is tried again with the next supergraph", async () => {
    await start();
    await gateway.send(wages);
    writeFileSync(gateway.file, `${composeSupergraph([crew, pay, mails])}\n# the next one`);
    await gateway.seen("supergraph-loaded");
    pay.requests.length = 0;
    expect((await gateway.send(wages)).body).toEqual(withWages);
    expect(selectionsReceived()).toEqual(["...on Sailor{wage a_0_0_id:id}", "...on Sailor{wage}"]);
  });
});

test("an error at a nullable key that the gateway added does not reach the client", async () => {
  await start();
  mails.fault = async (response, { query }, _, resolveCorrectly) => {
    const { data } = await resolveCorrectly();
    const errors = query.includes(":mail") ? [{ message: "No.", path: ["_entities", 1, "a_0_0_mail"] }] : [];
    respondJson(response, 200, JSON.stringify({ data, errors }));
  };
  expect((await gateway.send("{ sailors { unread } }")).body).toEqual({
    data: { sailors: [{ unread: 9 }, { unread: 9 }] },
  });
});

describe("a subgraph that leaves out a key that the gateway added", () => {
  test("is sent the fetch again without the key, and later fetches do not add it", async () => {
    await start();
    pay.fault = respondWith((entities) => entities.map(({ wage }) => ({ wage })));
    expect((await gateway.send(wages)).body).toEqual(withWages);
    expect((await gateway.send(wages)).body).toEqual(withWages);
    expect(selectionsReceived()).toEqual([
      "...on Sailor{wage a_0_0_id:id}",
      "...on Sailor{wage}",
      "...on Sailor{wage}",
    ]);
    expect(gateway.observations).toEqual([{ kind: "key-check-stopped", service: "pay", type: "Sailor" }]);
  });

  test("must return it if another entity of the response is another row", async () => {
    await start();
    pay.fault = respondWith(([first, second]) => [{ ...first, a_0_0_id: "b2" }, { wage: second?.wage }]);
    const { body } = await gateway.send(wages);
    expect(body.data).toEqual({ sailors: [{ wage: null }, { wage: null }] });
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_INVALID_RESPONSE", "SUBGRAPH_INVALID_RESPONSE"]);
    expect(pay.requests).toHaveLength(1);
  });
});

describe("a subgraph that normalizes its keys", () => {
  test("may change the letter case and outer white space of a string", async () => {
    await start();
    const { body } = await gateway.send("{ sailors { unread } }");
    expect(body).toEqual({ data: { sailors: [{ unread: 9 }, { unread: 9 }] } });
    expect(gateway.observations).toEqual([]);
  });

  test("must not change an ID", async () => {
    await start();
    pay.fault = (response, { variables }) => {
      const sent = variables["representations"] as readonly { readonly id: string }[];
      const entities = sent.map(({ id }) => ({ wage: 1, a_0_0_id: id.toUpperCase() }));
      respondJson(response, 200, JSON.stringify({ data: { _entities: entities } }));
    };
    const { body } = await gateway.send(wages);
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_INVALID_RESPONSE", "SUBGRAPH_INVALID_RESPONSE"]);
  });
});

describe("SUBGRAPH_KEY_CHECK_<NAME>=off", () => {
  test("disables key fields and their checks for the subgraph", async () => {
    await start({ SUBGRAPH_KEY_CHECK_PAY: "off", SUBGRAPH_KEY_CHECK_MAILS: "on" });
    expect((await gateway.send("{ sailors { wage unread ship { value } } }")).body.errors).toBeUndefined();
    expect(selectionsReceived()).toEqual(["...on Sailor{wage} ...on Ship{value}"]);
    expect(selectionsReceived(mails)).toEqual(["...on Sailor{unread a_0_0_mail:mail}"]);
  });

  test("is reported if it names no subgraph", async () => {
    gateway = await startGateway({
      supergraphSdl: composeSupergraph([crew, pay, mails]),
      environment: { SUBGRAPH_KEY_CHECK_PAYS: "off" },
    });
    const variable = "SUBGRAPH_KEY_CHECK_PAYS";
    expect(gateway.observations).toContainEqual({ kind: "variable-without-subgraph", variable });
  });
});

/** The selections of entities in the received requests, in order. */
function selectionsReceived({ requests } = pay): readonly string[] {
  return requests.map(({ body }) => (body.query.match(/\.\.\.on [^}]*\}/g) ?? []).join(" "));
}

function codeOf({ extensions }: { readonly extensions: { readonly code: string } }): string {
  return extensions.code;
}

interface Entity {
  readonly wage?: number | undefined;
  readonly a_0_0_id?: string;
}

/** A fault that responds with other sailors than the correct ones, which have their keys. */
function respondWith(change: (entities: readonly Entity[]) => readonly Entity[]): Fault {
  return (response, { query, variables }) => {
    const sent = variables["representations"] as readonly { readonly id: string }[];
    const correct = sent.map(({ id }) => ({ wage: wageOf(id), ...(query.includes(":id") && { a_0_0_id: id }) }));
    respondJson(response, 200, JSON.stringify({ data: { _entities: change(correct) } }));
  };
}

const returnKeys = respondWith((entities) => entities);
const swapSailors = respondWith((entities) => entities.toReversed());

const swapShips: Fault = async (response, _body, _request, resolveCorrectly) => {
  const { data, errors } = await resolveCorrectly();
  const swapped = Object.entries(data ?? {}).map(([key, entities]) => [
    key,
    JSON.stringify(entities).includes("value") ? (entities as readonly unknown[]).toReversed() : entities,
  ]);
  respondJson(response, 200, JSON.stringify({ data: Object.fromEntries(swapped), errors }));
};

function startCrew(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "crew",
    typeDefs: `
      type Query { sailors: [Sailor!] }
      type Mutation { hire: Sailor }
      type Sailor @key(fields: "id") @key(fields: "mail") { id: ID! mail: String! ship: Ship }
      type Ship @key(fields: "hull") { hull: ID! }
    `,
    resolvers: { Query: { sailors: () => sailors }, Mutation: { hire: () => sailors[0] } },
  });
}

/** Federation 1: the supergraph does not contain whether a key is external. The subgraph does not return the key of sailors, but that of ships. */
function startPay(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "pay",
    header: "",
    typeDefs: `
      extend type Sailor @key(fields: "id") { id: ID! @external wage: Int }
      type Ship @key(fields: "hull") { hull: ID! value: Int }
    `,
    resolvers: {
      Sailor: { __resolveReference: ({ id }: { id: string }) => ({ wage: wageOf(id) }) },
      Ship: { __resolveReference: ({ hull }: { hull: string }) => ({ hull, value: valueOf(hull) }) },
    },
  });
}

function startMails(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "mails",
    typeDefs: `type Sailor @key(fields: "mail") { mail: String! unread: Int }`,
    resolvers: {
      Sailor: { __resolveReference: ({ mail }: { mail: string }) => ({ mail: ` ${mail.toLowerCase()}`, unread: 9 }) },
    },
  });
}
