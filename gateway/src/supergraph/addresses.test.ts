import { parse } from "graphql";
import { expect, test } from "vitest";
import { variableNameOf, readAddresses } from "./addresses.ts";

const supergraph = parse(`
  enum join__Graph {
    USERS @join__graph(name: "users", url: "http://users/graphql")
    MY_ORDERS_1 @join__graph(name: "my-orders.1", url: "http://orders/graphql")
    NOWHERE @join__graph(name: "nowhere", url: "")
    LOCAL @join__graph(name: "local", url: "file:///etc/passwd")
  }
`);

const none = { subgraphUrls: {}, subgraphKeyChecks: {} };

test("a subgraph has the URL of the supergraph, or the URLs of its variable", () => {
  const subgraphUrls = { SUBGRAPH_URL_MY_ORDERS_1: ["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"] };
  expect(readAddresses(supergraph, { ...none, subgraphUrls })).toEqual({
    subgraphs: [
      { service: "users", urls: ["http://users/graphql"], checksKeys: true },
      {
        service: "my-orders.1",
        urls: ["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"],
        checksKeys: true,
      },
      { service: "nowhere", urls: [], checksKeys: true },
      { service: "local", urls: [], checksKeys: true },
    ],
    unknownVariables: [],
  });
});

test("the key check of a subgraph can be switched off", () => {
  const subgraphKeyChecks = { SUBGRAPH_KEY_CHECK_MY_ORDERS_1: false, SUBGRAPH_KEY_CHECK_USERS: true };
  const { subgraphs, unknownVariables } = readAddresses(supergraph, { ...none, subgraphKeyChecks });
  expect(subgraphs.map(({ checksKeys }) => checksKeys)).toEqual([true, false, true, true]);
  expect(unknownVariables).toEqual([]);
});

test("overrides that name no subgraph are reported", () => {
  const overrides = {
    subgraphUrls: { SUBGRAPH_URL_USER: ["http://x"] },
    subgraphKeyChecks: { SUBGRAPH_KEY_CHECK_USER: false },
  };
  const { unknownVariables } = readAddresses(supergraph, overrides);
  expect(unknownVariables).toEqual(["SUBGRAPH_URL_USER", "SUBGRAPH_KEY_CHECK_USER"]);
});

test.each([
  ["users", "SUBGRAPH_URL_USERS"],
  ["my-orders.1", "SUBGRAPH_URL_MY_ORDERS_1"],
  ["größe", "SUBGRAPH_URL_GR_SSE"],
])("the override of %s is %s", (service, name) => {
  expect(variableNameOf("SUBGRAPH_URL", service)).toBe(name);
});

test("a schema that is not a supergraph is rejected", () => {
  expect(() => readAddresses(parse("type Query { a: Int }"), none)).toThrow("join__Graph");
});
