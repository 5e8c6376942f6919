import { parse } from "graphql";
import { expect, test } from "vitest";
import { overrideName, readAddresses } from "./addresses.ts";

const supergraph = parse(`
  enum join__Graph {
    USERS @join__graph(name: "users", url: "http://users/graphql")
    MY_ORDERS_1 @join__graph(name: "my-orders.1", url: "http://orders/graphql")
    NOWHERE @join__graph(name: "nowhere", url: "")
    LOCAL @join__graph(name: "local", url: "file:///etc/passwd")
  }
`);

test("a subgraph is where the supergraph says, or where an override says", () => {
  const overrides = { SUBGRAPH_URL_MY_ORDERS_1: ["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"] };
  expect(readAddresses(supergraph, overrides)).toEqual({
    subgraphs: [
      { service: "users", urls: ["http://users/graphql"] },
      { service: "my-orders.1", urls: ["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"] },
      { service: "nowhere", urls: [] },
      { service: "local", urls: [] },
    ],
    unusedOverrides: [],
  });
});

test("an override that names no subgraph is told", () => {
  expect(readAddresses(supergraph, { SUBGRAPH_URL_USER: ["http://x"] }).unusedOverrides).toEqual(["SUBGRAPH_URL_USER"]);
});

test.each([
  ["users", "SUBGRAPH_URL_USERS"],
  ["my-orders.1", "SUBGRAPH_URL_MY_ORDERS_1"],
  ["größe", "SUBGRAPH_URL_GR_SSE"],
])("the override of %s is %s", (service, name) => {
  expect(overrideName(service)).toBe(name);
});

test("a schema that is no supergraph is refused", () => {
  expect(() => readAddresses(parse("type Query { a: Int }"), {})).toThrow("join__Graph");
});
