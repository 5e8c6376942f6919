import { expect, test } from "vitest";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson } from "./helpers/subgraphs.ts";

const named = "all: { operation_names: true }";
const bothFields = '{ one(name: "host") two(name: "host") }';

test("operation_names sends the client's operation name with subgraph and number of the fetch", async () => {
  const platform = await startEchoPlatform(named);
  const { first, second, gateway, sendOnBothPaths } = platform;
  await sendOnBothPaths(`query Home ${bothFields}`);
  await gateway.send("mutation Save($n: String!) { oneWrite(name: $n) }", { variables: { n: "host" } });
  const sent = [...first.requests, ...second.requests].map(({ body }) => body);
  expect(sent).toEqual([
    { operationName: "Home__first__0", query: expect.stringMatching(/^query Home__first__0\{/) },
    { operationName: "Home__first__0", query: expect.stringMatching(/^query Home__first__0\{/) },
    {
      operationName: "Save__first__0",
      query: expect.stringMatching(/^mutation Save__first__0\(/),
      variables: { n: "host" },
    },
    { operationName: "Home__second_one__1", query: expect.stringMatching(/^query Home__second_one__1\{/) },
    { operationName: "Home__second_one__1", query: expect.stringMatching(/^query Home__second_one__1\{/) },
  ]);
  expect([...first.invalidDocuments, ...second.invalidDocuments]).toEqual([]);
});

test("without it, and for an anonymous operation, the gateway sends no name", async () => {
  for (const [yaml, query] of [
    ["{}", `query Home ${bothFields}`],
    [named, bothFields],
  ] as const) {
    const { first, sendOnBothPaths } = await startEchoPlatform(yaml);
    await sendOnBothPaths(query);
    for (const { body } of first.requests) expect(body).toEqual({ query: expect.stringMatching(/^\{/) });
  }
});

test("equal fetches of operations with different names are sent once, with the name of the first", async () => {
  const { first, second, gateway } = await startEchoPlatform(named);
  const queries = ["a", "b", "c"].map((name) => `query ${name} { one(name: "host") two(name: "${name}") }`);
  for (const query of queries) await gateway.send(query);
  first.requests.length = second.requests.length = 0;
  let respond = () => {};
  first.fault = (response, _body, _request, resolve) =>
    (respond = () => void resolve().then((result) => respondJson(response, 200, JSON.stringify(result))));
  const responses = [];
  for (const [i, query] of queries.entries()) {
    responses.push(gateway.send(query));
    // Both fetches of an operation are sent at once.
    await expect.poll(() => second.requests.length).toBe(i + 1);
  }
  await expect.poll(() => first.requests.length).toBeGreaterThan(0);
  respond();
  for (const response of responses) expect((await response).body.data).toEqual({ one: expect.any(String), two: null });
  expect(first.requests.map(({ body }) => Object(body).operationName)).toEqual(["a__first__0"]);
});
