import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { passTime } from "./helpers/clock.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import {
  composeSupergraph,
  type Fault,
  respondJson,
  type RunningSubgraph,
  startSubgraph,
} from "./helpers/subgraphs.ts";

/* A replica of the previous release lacks a field, and rejects each document that contains it: the other parts of the document are not lost. */

let crew: RunningSubgraph;
let pay: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  [crew, pay] = await Promise.all([startCrew(), startPay()]);
});
beforeEach(() => start());
afterEach(async () => {
  await gateway.drain();
  vi.restoreAllMocks();
  for (const subgraph of [crew, pay]) subgraph.fault = undefined;
});
afterAll(() => Promise.all([crew.close(), pay.close()]));

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ supergraphSdl: composeSupergraph([crew, pay]), environment });
  gateway.observations.length = 0;
  crew.requests.length = pay.requests.length = 0;
}

const entities = "{ sailor { wage ship { value } } }";
const rootFields = "query ($plus: Int, $unit: String) { bonus(plus: $plus) currency(unit: $unit) }";

const rejections = [
  { server: "Apollo Server", status: 400, more: {}, error: { extensions: { code: "GRAPHQL_VALIDATION_FAILED" } } },
  { server: "graphql-java", status: 200, more: {}, error: { extensions: { classification: "ValidationError" } } },
  { server: "async-graphql", status: 200, more: { data: null }, error: {} },
  { server: "gqlgen", status: 422, more: { data: null }, error: { extensions: { code: "GRAPHQL_VALIDATION_FAILED" } } },
  {
    server: "graphql-ruby",
    status: 200,
    more: {},
    error: { path: ["query", "_entities1", "value"], extensions: { code: "undefinedField" } },
  },
];

describe.each(rejections)("after a rejection by $server", ({ status, more, error }) => {
  const reject = rejectWith("value", { ...more, errors: [{ message: "No field value.", ...error }] }, status);

  test.each(["true", "false"])("the entity fetches are sent singly, with FAST_PATH=%s", async (fastPath) => {
    await gateway.drain();
    await start({ FAST_PATH: fastPath });
    pay.fault = reject;
    const { body } = await gateway.send(entities);
    expect(body).toMatchObject({
      data: { sailor: { wage: 100, ship: { value: null } } },
      errors: [{ path: ["sailor", "ship", "value"], extensions: { code: "SUBGRAPH_ERROR", service: "pay" } }],
    });
    expect(body.errors).toHaveLength(1);
    expect(fieldsReceived()).toEqual(["wage value", "wage", "value"]);
    for (const { body: single } of pay.requests.slice(1))
      expect(Object.keys(single.variables)).toEqual(["representations"]);
  });
});

test("the root fields of one fetch are sent singly, each with its variables", async () => {
  pay.fault = rejectWith("currency");
  const variables = { plus: 3, unit: "short" };
  const { body } = await gateway.send(rootFields, { variables });
  expect(body).toMatchObject({ data: { bonus: 3, currency: null }, errors: [{ path: ["currency"] }] });
  expect(body.errors).toHaveLength(1);
  expect(pay.requests.map((request) => request.body.variables)).toEqual([variables, { plus: 3 }, { unit: "short" }]);
  passTime(60_001);
  pay.fault = undefined;
  expect((await gateway.send(rootFields, { variables })).body).toEqual({ data: { bonus: 3, currency: "short" } });
  expect(pay.requests).toHaveLength(4);
});

test("a part that fails in another way gets its own error", async () => {
  pay.fault = (response, body, ...rest) => {
    if (fieldsOf(body.query) === "value") response.socket?.resetAndDestroy();
    else rejectWith("value")(response, body, ...rest);
  };
  const { body } = await gateway.send(entities);
  expect(body.data).toEqual({ sailor: { wage: 100, ship: { value: null } } });
  expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_UNAVAILABLE"]);
  pay.fault = (response, body, ...rest) => {
    if (fieldsOf(body.query) === "currency") response.socket?.resetAndDestroy();
    else rejectWith("currency")(response, body, ...rest);
  };
  const ofRoot = (await gateway.send(rootFields, { variables: { plus: 1 } })).body;
  expect(ofRoot).toMatchObject({ data: { bonus: 1, currency: null }, errors: [{ path: ["currency"] }] });
  expect(ofRoot.errors.map(codeOf)).toEqual(["SUBGRAPH_UNAVAILABLE"]);
});

test("for a minute the parts are sent singly at once, then the whole document is tried again", async () => {
  pay.fault = rejectWith("value");
  await gateway.send(entities);
  expect(gateway.observations).toContainEqual({ kind: "request-split", service: "pay" });
  pay.fault = undefined;
  const receivedAfter = async (ms: number) => {
    passTime(ms);
    pay.requests.length = 0;
    expect((await gateway.send(entities)).body).toEqual({ data: { sailor: { wage: 100, ship: { value: 1 } } } });
    return fieldsReceived().toSorted();
  };
  expect(await receivedAfter(59_000)).toEqual(["value", "wage"]);
  expect(await receivedAfter(1_001)).toEqual(["wage value"]);
});

test("if no part gets data, the rejection is final for a minute", async () => {
  pay.fault = rejectWith("a", { errors: [{ message: "No field.", path: ["query", "_entities1", "value"] }] });
  for (const count of [3, 4]) {
    const { body } = await gateway.send(entities);
    expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_ERROR", "SUBGRAPH_ERROR"]);
    expect(pay.requests).toHaveLength(count);
  }
  passTime(60_001);
  await gateway.send(entities);
  expect(pay.requests).toHaveLength(7);
});

test("client requests that share the rejection share the parts, and take one retry for each part", async () => {
  pay.fault = rejectWith("value");
  const responses = await Promise.all(Array.from({ length: 20 }, () => gateway.send(entities)));
  for (const { body } of responses) expect(body.data).toEqual({ sailor: { wage: 100, ship: { value: null } } });
  const retries = gateway.observations.filter(({ kind }) => kind === "retried");
  // Requests that arrive after the rejection send the parts at once, which takes no retry.
  const rejections = fieldsReceived().filter((fields) => fields === "wage value").length;
  expect(rejections).toBeLessThan(responses.length);
  expect(retries).toHaveLength(2 * rejections);
});

test("without a retry in the budget, the rejection is final", async () => {
  // The budget refills with time.
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  pay.fault = (response) => void response.socket?.resetAndDestroy();
  const count = (kind: string) => gateway.observations.filter((observation) => observation.kind === kind).length;
  while (count("retry-over-budget") === 0)
    await Promise.all(Array.from({ length: 50 }, (_, plus) => gateway.send(`{ bonus(plus: ${plus}) }`)));
  // Each request adds a tenth of a retry: after the next retry almost nothing is left.
  const before = count("retried");
  while (count("retried") === before) await gateway.send("{ bonus }");
  pay.fault = rejectWith("value");
  pay.requests.length = 0;
  const { body } = await gateway.send(entities);
  expect(body.data).toEqual({ sailor: { wage: null, ship: { value: null } } });
  expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_ERROR", "SUBGRAPH_ERROR"]);
  expect(pay.requests).toHaveLength(1);
});

test.each([
  ["the caller", 200, { errors: [{ message: "No.", extensions: { code: "UNAUTHENTICATED" } }] }],
  ["the value of a variable", 400, { errors: [{ message: "No.", extensions: { code: "BAD_USER_INPUT" } }] }],
  ["a failure of the server", 500, { errors: [{ message: "No." }] }],
  ["an error in a field", 200, { data: null, errors: [{ message: "No.", path: ["_entities0"] }] }],
])("a rejection for %s is not repeated in parts", async (_, status, result) => {
  pay.fault = rejectWith("value", result, status);
  await gateway.send(entities);
  expect(pay.requests).toHaveLength(1);
});

test("a mutation is sent once", async () => {
  pay.fault = rejectWith("raise");
  const { body } = await gateway.send("mutation { a: raise { id } b: raise { id wage } }");
  expect(body.errors.map(codeOf)).toEqual(["SUBGRAPH_ERROR", "SUBGRAPH_ERROR"]);
  expect(pay.requests).toHaveLength(2);
});

test("the entity fetches of a mutation are reads, and are sent singly", async () => {
  pay.fault = rejectWith("value");
  const { body } = await gateway.send("mutation { hire { wage ship { value } } }");
  expect(body.data).toEqual({ hire: { wage: 100, ship: { value: null } } });
  expect(crew.requests).toHaveLength(1);
});

const invalid = { errors: [{ message: "Unknown field.", extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] };

/** Rejects each document with this field. */
function rejectWith(field: string, result: object = invalid, status = 400): Fault {
  return async (response, { query }, _request, resolveCorrectly) => {
    if (query.includes(field)) respondJson(response, status, JSON.stringify(result));
    else respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
  };
}

/** The fields in the documents that `pay` received, in order. */
function fieldsReceived(): readonly string[] {
  return pay.requests.map(({ body }) => fieldsOf(body.query));
}

function fieldsOf(query: string): string {
  return (query.match(/\b(wage|value|bonus|currency)\b/g) ?? []).join(" ");
}

function codeOf({ extensions }: { readonly extensions: { readonly code: string } }): string {
  return extensions.code;
}

function startCrew(): Promise<RunningSubgraph> {
  const sailor = { id: "a1", ship: { hull: "h1" } };
  return startSubgraph({
    name: "crew",
    typeDefs: `
      type Query { sailor: Sailor }
      type Mutation { hire: Sailor }
      type Sailor @key(fields: "id") { id: ID! ship: Ship }
      type Ship @key(fields: "hull") { hull: ID! }
    `,
    resolvers: { Query: { sailor: () => sailor }, Mutation: { hire: () => sailor } },
  });
}

function startPay(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "pay",
    typeDefs: `
      type Query { bonus(plus: Int): Int currency(unit: String): String }
      type Mutation { raise: Sailor }
      type Sailor @key(fields: "id") { id: ID! wage: Int }
      type Ship @key(fields: "hull") { hull: ID! value: Int }
    `,
    resolvers: {
      Query: {
        bonus: (_: unknown, { plus }: { plus: number }) => plus,
        currency: (_: unknown, { unit }: { unit: string }) => unit,
      },
      Mutation: { raise: () => ({ id: "a1", wage: 101 }) },
      Sailor: { __resolveReference: ({ id }: { id: string }) => ({ id, wage: 100 }) },
      Ship: { __resolveReference: ({ hull }: { hull: string }) => ({ hull, value: 1 }) },
    },
  });
}

test("a missing entity is null in a merged plan, also after its document was rejected", async () => {
  const size = (unit: string) => `type Size @shareable { ${unit}: Int }`;
  const [shop, stock] = await Promise.all([
    startSubgraph({
      name: "shop",
      typeDefs: `type Query { product: Product products: [Product] } ${size("grams")}
        type Product @key(fields: "id") { id: ID! size: Size @shareable }`,
      resolvers: {
        Query: { product: () => ({ id: "1" }), products: () => [{ id: "2", size: { grams: 5 } }] },
      },
    }),
    startSubgraph({
      name: "stock",
      typeDefs: `type Product @key(fields: "id") { id: ID! left: Int size: Size @shareable } ${size("millimetres")}`,
      resolvers: {
        Product: {
          __resolveReference: ({ id }: { id: string }) => (id === "1" ? null : { id, size: { millimetres: 9 } }),
        },
      },
    }),
  ]);
  stock.fault = async (response, { variables }, _request, resolve) => {
    const isWhole = Object.keys(variables).length > 1;
    const rejection = { errors: [{ message: "No.", extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] };
    respondJson(response, isWhole ? 400 : 200, JSON.stringify(isWhole ? rejection : await resolve()));
  };
  await gateway.drain();
  gateway = await startGateway({ supergraphSdl: composeSupergraph([shop, stock]) });
  for (let request = 0; request < 2; request++)
    expect((await gateway.send("{ product { left } products { size { grams millimetres } } }")).body).toEqual({
      data: { product: { left: null }, products: [{ size: { grams: 5, millimetres: 9 } }] },
    });
  expect(stock.requests).toHaveLength(5);
  await Promise.all([shop.close(), stock.close()]);
});
