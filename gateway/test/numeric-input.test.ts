import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let echo: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  const resolve = (_: unknown, { of }: { of: unknown }) => JSON.stringify(of);
  echo = await startSubgraph({
    name: "echo",
    typeDefs: `
      directive @note(f: Float, j: JSON) on FIELD
      scalar JSON
      input Filter { f: Float fs: [Float!] j: JSON more: [Filter] }
      type Query { int(of: Int): String float(of: Float): String floats(of: [[Float]]): String id(of: ID): String json(of: JSON): String filter(of: Filter): String }
    `,
    resolvers: {
      Query: { int: resolve, float: resolve, floats: resolve, id: resolve, json: resolve, filter: resolve },
    },
  });
  gateway = await startGateway({ supergraphSdl: composeSupergraph([echo]) });
});
beforeEach(() => {
  echo.requests.length = 0;
  gateway.observations.length = 0;
});
afterAll(async () => {
  await gateway.drain();
  await echo.close();
});

const digits = "9".repeat(400);
const modern = { accept: "application/graphql-response+json" };

test.each([
  "{ float(of: 1e400) }",
  "{ float(of: -1e400) }",
  `{ float(of: ${digits}) }`,
  "{ floats(of: [[1], [1e400]]) }",
  "{ filter(of: { f: 1e400 }) }",
  "{ filter(of: { more: [{ fs: [1, 1e400] }] }) }",
  "{ int(of: 1e400) }",
  `{ int(of: ${digits}) }`,
  "{ id(of: 1e400) }",
  "{ json(of: 1e400) }",
  "{ json(of: { a: [0, { b: -1e400 }] }) }",
  `{ json(of: [${digits}]) }`,
  "{ filter(of: { j: 1e400 }) }",
  "{ float(of: 1) @note(f: 1e400) }",
  "{ float(of: 1) @note(j: [1e400]) }",
  "query ($of: Float = 1e400) { float(of: $of) }",
  "query ($of: JSON = { a: 1e400 }) { json(of: $of) }",
  "{ ...F } fragment F on Query { float(of: 1e400) @skip(if: true) }",
  "query A { float(of: 1) } query B { float(of: 1e400) }",
  // The planner would round them.
  "{ json(of: 12345678901234567890) }",
  "{ json(of: { a: [-9007199254740993] }) }",
  "{ json(of: 123456789012345678901234567890) }",
])("%s is a validation error at the number", async (query) => {
  const body = {
    errors: [
      expect.objectContaining({
        locations: [expect.anything()],
        extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
      }),
    ],
  };
  expect(await gateway.send(query)).toMatchObject({ status: 200, body });
  expect(await gateway.send(query, { headers: modern })).toMatchObject({ status: 400, body });
  expect(echo.requests).toEqual([]);
  expect(gateway.observations.map(({ kind }) => kind)).not.toContain("internal-error");
});

test.each([
  ["{ float(of: 1e308) }", "1e+308"],
  ["{ float(of: 1e-400) }", "0"],
  ["{ float(of: 12345678901234567890) }", "12345678901234567000"],
  [`{ id(of: ${digits}) }`, `"${digits}"`],
  ["{ json(of: [9007199254740992, -0.1, 1e21]) }", "[9007199254740992,-0.1,1e+21]"],
  ["{ json(of: { a: -1000000000000000000000 }) }", '{"a":-1e+21}'],
])("%s is in range", async (query, text) => {
  const { body } = await gateway.send(query);
  expect(Object.values(body.data)).toEqual([text]);
});

test.each([
  ["Float", "float", "1e400"],
  ["[[Float]]", "floats", "[[1,1e400]]"],
  ["Int", "int", digits],
  ["ID", "id", digits],
  ["JSON", "json", "1e400"],
  ["JSON", "json", `{"a":[0,{"b":-${digits}}]}`],
  ["Filter", "filter", '{"more":[{"f":1e400}]}'],
  ["Filter", "filter", '{"j":[1e400]}'],
])("a variable of type %s out of range is BAD_USER_INPUT on both paths: %s %s", async (type, field, of) => {
  const query = `query ($of: ${type}) { ${field}(of: $of) }`;
  const known = await gateway.send(query);
  expect(known.body).toEqual({ data: { [field]: null } });
  echo.requests.length = 0;
  for (const path of ["/graphql", "/graphql?full"]) {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...modern },
      body: `{"query":"${query}","variables":{"of":${of}}}`,
    });
    expect(gateway.tookFastPath()).toBe(path === "/graphql");
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      errors: [
        expect.objectContaining({ locations: [{ line: 1, column: 8 }], extensions: { code: "BAD_USER_INPUT" } }),
      ],
    });
  }
  expect(echo.requests).toEqual([]);
});
