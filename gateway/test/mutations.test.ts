import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { respondJson, composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let accounts: RunningSubgraph;
let audits: RunningSubgraph;
let gateway: RunningGateway;
/** The names of the mutation fields that ran, in order. */
let ran: string[];

beforeAll(async () => {
  [accounts, audits] = await Promise.all([startAccounts(), startAudits()]);
  gateway = await startGateway({ supergraphSdl: composeSupergraph([accounts, audits]) });
});
beforeEach(() => void (ran = []));
afterEach(() => void (accounts.fault = audits.fault = undefined));
afterAll(async () => {
  await gateway.drain();
  await Promise.all([accounts.close(), audits.close()]);
});

// GraphQL specification, "Mutation" and "Executing Selection Sets": fields run serially, and an error of a non-null one ends the operation.
test("after a non-null mutation field has failed, no later field runs, and data is null", async () => {
  const { body } = await gateway.send("mutation { a: open { id } b: reject { id } c: record d: open { id } }");
  expect(ran).toEqual(["open", "reject"]);
  expect(body).toMatchObject({ data: null, errors: [{ path: ["b"] }] });
  expect(body.errors).toHaveLength(1);
});

test("after a nullable mutation field has failed, the later ones run", async () => {
  const { body } = await gateway.send("mutation { a: attempt { id } b: open { id } c: record }");
  expect(ran).toEqual(["attempt", "open", "record"]);
  expect(body).toMatchObject({ data: { a: null, b: { id: "1" }, c: 1 }, errors: [{ path: ["a"] }] });
});

test("a null that propagates to the field from a later fetch ends the operation, too", async () => {
  audits.fault = (response, { query }, _request, answerTruly) => {
    if (query.includes("_entities")) response.destroy();
    else void answerTruly().then((answer) => respondJson(response, 200, JSON.stringify(answer)));
  };
  const { body } = await gateway.send("mutation { open { audit { entry } } record close }");
  expect(ran).toEqual(["open"]);
  expect(body).toMatchObject({ data: null, errors: [{ path: ["open", "audit"] }] });
});

test("a subgraph that is down ends the operation if its mutation field is non-null", async () => {
  audits.fault = (response) => response.destroy();
  const { body } = await gateway.send("mutation { first: close record last: close }");
  expect(ran).toEqual(["close"]);
  expect(body).toMatchObject({ data: null, errors: [{ path: ["record"] }] });
});

function startAccounts(): Promise<RunningSubgraph> {
  const run = (name: string) => void ran.push(name);
  const fail = (name: string) => () => {
    run(name);
    throw new Error("failed");
  };
  return startSubgraph({
    name: "accounts",
    typeDefs: `
      type Query { account: Account }
      type Mutation { open: Account! reject: Account! attempt: Account close: Int! }
      type Account @key(fields: "id") { id: ID! }
    `,
    resolvers: {
      Mutation: {
        open: () => (run("open"), { id: "1" }),
        close: () => (run("close"), 1),
        reject: fail("reject"),
        attempt: fail("attempt"),
      },
    },
  });
}

function startAudits(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "audits",
    typeDefs: `
      type Mutation { record: Int! }
      type Account @key(fields: "id") { id: ID! audit: Audit! }
      type Audit { entry: Int }
    `,
    resolvers: {
      Mutation: { record: () => ran.push("record") && 1 },
      Account: { __resolveReference: (key: object) => ({ ...key, audit: { entry: 1 } }) },
    },
  });
}
