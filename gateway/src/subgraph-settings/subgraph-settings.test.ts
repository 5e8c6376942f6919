import type { Environment } from "@tributary/kit/process/env";
import { parse } from "graphql";
import { describe, expect, test } from "vitest";
import type { SubgraphSections } from "./subgraph-schema.ts";
import { readConfig } from "../config.ts";
import { listUnknownNames, readSubgraphs, resolveSubgraph } from "./subgraph-settings.ts";
import { followedNameOf } from "./subgraph-variables.ts";

const supergraph = parse(`
  enum join__Graph {
    USERS @join__graph(name: "users", url: "http://users/graphql")
    MY_ORDERS_1 @join__graph(name: "my-orders.1", url: "http://orders/graphql")
    GR_SSE @join__graph(name: "größe", url: "http://sizes/graphql")
    NOWHERE @join__graph(name: "nowhere", url: "")
    LOCAL @join__graph(name: "local", url: "file:///etc/passwd")
  }
`);

function variablesOf(environment: Environment) {
  return readConfig({ SUPERGRAPH_FILE: "supergraph.graphql", ...environment }).subgraphs;
}

/** The settings by service. */
function resolve(environment: Environment, file: SubgraphSections = {}) {
  const variables = variablesOf(environment);
  const subgraphs = readSubgraphs(supergraph);
  const configuration = { revision: 0, variables, file, tlsFiles: new Map() };
  const settings = subgraphs.map((subgraph) => resolveSubgraph(subgraph, configuration));
  const of = Object.fromEntries(
    settings.map(({ service, fingerprint: _fingerprint, errors: _errors, ...plain }) => [service, plain]),
  );
  return { unknownVariables: listUnknownNames(subgraphs, configuration).variables, of };
}

describe("the settings of a subgraph", () => {
  test("without variables are those of the supergraph, and defaults", () => {
    const settings = {
      timeoutMs: 10_000,
      attemptsMax: 3,
      requestsMax: 1_024,
      bodyBytesMax: 10_000_000,
      checksKeys: true,
      forwardsAuthorization: true,
      authorization: undefined,
      wantsCompression: false,
      followsRedirects: false,
      sendsOperationNames: false,
      tls: undefined,
      requestHeaders: undefined,
      responseHeaders: undefined,
    };
    expect(resolve({})).toEqual({
      unknownVariables: [],
      of: {
        users: { ...settings, urls: ["http://users/graphql"] },
        "my-orders.1": { ...settings, urls: ["http://orders/graphql"] },
        größe: { ...settings, urls: ["http://sizes/graphql"] },
        nowhere: { ...settings, urls: [] },
        local: { ...settings, urls: [] },
      },
    });
  });

  test("have the URLs of its variable, one replica or several", () => {
    const { of, unknownVariables } = resolve({
      SUBGRAPH_URL_MY_ORDERS_1: "http://127.0.0.1:4004/graphql, http://127.0.0.1:5004/graphql",
      SUBGRAPH_URL_GR_SSE: "http://127.0.0.1:4005/graphql",
      SUBGRAPH_URL_: "http://x",
    });
    expect(of["my-orders.1"]?.urls).toEqual(["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"]);
    expect(of["größe"]?.urls).toEqual(["http://127.0.0.1:4005/graphql"]);
    expect(unknownVariables).toEqual([]);
  });

  test("have the credentials of its URLs apart from these, so a new password needs no new connections", () => {
    const { of } = resolve({ SUBGRAPH_URL_USERS: "http://a:b@users/x?y,http://a:b@10.0.0.1:81/" });
    expect(of["users"]).toMatchObject({
      urls: ["http://users/x?y", "http://10.0.0.1:81/"],
      authorization: "Basic YTpi",
      forwardsAuthorization: false,
    });
  });

  test("switch its key check off", () => {
    const { of } = resolve({ SUBGRAPH_KEY_CHECK_MY_ORDERS_1: "off", SUBGRAPH_KEY_CHECK_USERS: "on" });
    expect([of["my-orders.1"], of["users"], of["nowhere"]].map((settings) => settings?.checksKeys)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test("are those of the variables for all subgraphs", () => {
    const { of } = resolve({ SUBGRAPH_TIMEOUT_MS: "20", SUBGRAPH_BODY_BYTES_MAX: "2000" });
    expect(of["users"]).toMatchObject({ timeoutMs: 20, bodyBytesMax: 2_000 });
  });

  test("a variable that names no subgraph is reported", () => {
    const { unknownVariables } = resolve({
      SUBGRAPH_URL_USER: "http://x",
      SUBGRAPH_KEY_CHECK_USER: "on",
      ENTITY_CACHE_USER: "on",
      ENTITY_CACHE_BOOKS: "off",
      ENTITY_CACHE_BYTES_MAX: "100000",
      SUBGRAPH_FEED_URL_USER: "http://x",
    });
    expect(unknownVariables).toEqual([
      "SUBGRAPH_URL_USER",
      "SUBGRAPH_KEY_CHECK_USER",
      "ENTITY_CACHE_USER",
      "SUBGRAPH_FEED_URL_USER",
    ]);
  });
});

test("a schema that is not a supergraph is rejected", () => {
  expect(() => readSubgraphs(parse("type Query { a: Int }"))).toThrow("join__Graph");
});

test("the feeds that the gateway follows have the names of the services, not those of variables", () => {
  const { entityCache } = variablesOf({
    ENTITY_CACHE_POSTS: "on",
    ENTITY_CACHE_LINE_ITEMS: "on",
    ENTITY_CACHE_ORDERS: "on",
    SUBGRAPH_FEED_URL_POSTS: "http://posts:4102",
    SUBGRAPH_URL_LINE_ITEMS: "http://line-items:4005/graphql",
    SUBGRAPH_FEED_URL_ORDERS: "none",
  });
  expect(entityCache?.feedUrls).toEqual({ posts: ["http://posts:4102"], "line-items": ["http://line-items:4105"] });
  expect([...(entityCache?.services ?? [])]).toEqual(["posts", "line-items", "orders"].map(followedNameOf));
  expect(variablesOf({}).entityCache).toBeUndefined();
});
