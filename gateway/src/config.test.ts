import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, type Environment, describeEnvironment } from "@tributary/kit/process/env";
import { parse } from "graphql";
import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { listFollowedServices } from "./entity-cache-config.ts";
import { codes } from "./errors/codes.ts";
import { readAddresses, variableNameOf } from "./supergraph/addresses.ts";

const inProduction = {
  PROFILE: "production",
  TRUSTED_PROXIES: "none",
  CONSISTENCY_KEYS: "a key that is long enough",
};

describe("the configuration", () => {
  const enough = { SUPERGRAPH_FILE: "supergraph.graphql" };

  test("SUPERGRAPH_FILE or SUPERGRAPH_URL is the only required variable", () => {
    expect(readConfig(enough)).toMatchObject({
      profile: "development",
      port: 4000,
      host: "127.0.0.1",
      introspection: true,
      issuerUrl: undefined,
    });
    expect(readConfig({ SUPERGRAPH_URL: "https://registry.example/supergraph" }).supergraph.url).toBe(
      "https://registry.example/supergraph",
    );
  });

  test("pages of localhost may read responses in development, and no page in production", () => {
    expect(readConfig(enough).corsOrigins).toEqual(["http://localhost:*", "http://127.0.0.1:*"]);
    expect(readConfig({ ...enough, ...inProduction }).corsOrigins).toEqual([]);
    expect(readConfig({ ...enough, CORS_ORIGINS: "https://a.example, https://b.example" }).corsOrigins).toEqual([
      "https://a.example",
      "https://b.example",
    ]);
  });

  test("URLs of subgraphs are read by variable name, one replica or several", () => {
    const config = readConfig({
      ...enough,
      SUBGRAPH_URL_USERS: "http://127.0.0.1:4001/graphql",
      SUBGRAPH_URL_POSTS: "http://10.0.0.1:4002/graphql, http://10.0.0.2:4002/graphql",
      SUBGRAPH_URL_: "http://x",
    });
    expect(config.supergraph.subgraphUrls).toEqual({
      SUBGRAPH_URL_USERS: ["http://127.0.0.1:4001/graphql"],
      SUBGRAPH_URL_POSTS: ["http://10.0.0.1:4002/graphql", "http://10.0.0.2:4002/graphql"],
    });
  });

  test("the feeds that the gateway follows have the names of the services, not those of variables", () => {
    const { entityCacheConfig } = readConfig({
      ...enough,
      ENTITY_CACHE_POSTS: "on",
      ENTITY_CACHE_LINE_ITEMS: "on",
      ENTITY_CACHE_ORDERS: "on",
      SUBGRAPH_FEED_URL_POSTS: "http://posts:4102",
      SUBGRAPH_FEED_URL_LINE_ITEMS: "http://line-items:4105",
      SUBGRAPH_FEED_URL_ORDERS: "none",
    });
    expect(listFollowedServices(entityCacheConfig)).toEqual(["posts", "line-items"]);
    expect(listFollowedServices(undefined)).toEqual([]);
  });

  test("key checks of subgraphs are read by variable name", () => {
    const config = readConfig({ ...enough, SUBGRAPH_KEY_CHECK_USERS: "off", SUBGRAPH_KEY_CHECK_POSTS: "on" });
    expect(config.supergraph.subgraphKeyChecks).toEqual({
      SUBGRAPH_KEY_CHECK_USERS: false,
      SUBGRAPH_KEY_CHECK_POSTS: true,
    });
  });

  test.each<[Environment, RegExp]>([
    [{}, /SUPERGRAPH_FILE and SUPERGRAPH_URL/],
    [{ ...enough, SUPERGRAPH_URL: "http://x" }, /SUPERGRAPH_FILE and SUPERGRAPH_URL/],
    [{ SUPERGRAPH_URL: "ftp://x" }, /SUPERGRAPH_URL is not an http/],
    [{ ...enough, SUBGRAPH_URL_USERS: "users:4001" }, /SUBGRAPH_URL_USERS is not an http/],
    [{ ...enough, SUBGRAPH_URL_USERS: "http://a,b:4001" }, /SUBGRAPH_URL_USERS is not an http/],
    [{ ...enough, SUBGRAPH_URL_USERS: "http://a," }, /SUBGRAPH_URL_USERS is not an http/],
    [{ ...enough, SUBGRAPH_URL_USERS: "http://a,".repeat(64) + "http://a" }, /SUBGRAPH_URL_USERS lists more than 64/],
    [{ ...enough, SUBGRAPH_KEY_CHECK_USERS: "false" }, /SUBGRAPH_KEY_CHECK_USERS is neither on nor off/],
    [{ ...enough, ISSUER_URL: "http://127.0.0.1:4020", ...inProduction }, /ISSUER_URL is for PROFILE=development/],
    [{ ...enough, ISSUER_URL: "issuer" }, /ISSUER_URL is not an http/],
    [{ ...enough, SUBGRAPH_TIMEOUT_MS: "1" }, /SUBGRAPH_TIMEOUT_MS/],
    [{ ...enough, OVERRIDE_LABELS: "beta,percent(5)" }, /OVERRIDE_LABELS: a label starts with a letter/],
    [{ ...enough, OVERRIDE_LABELS: Array.from({ length: 33 }, (_, i) => `l${i}`).join() }, /at most 32 labels/],
  ])("%j is refused", (environment, reason) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(reason);
  });
});

describe("addresses of subgraphs", () => {
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
    const subgraphUrls = {
      SUBGRAPH_URL_MY_ORDERS_1: ["http://127.0.0.1:4004/graphql", "http://127.0.0.1:5004/graphql"],
    };
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

  test.each([
    ["my-orders.1", "SUBGRAPH_URL_MY_ORDERS_1"],
    ["größe", "SUBGRAPH_URL_GR_SSE"],
  ])("the override of %s is %s", (service, name) => {
    expect(variableNameOf("SUBGRAPH_URL", service)).toBe(name);
  });

  test("a schema that is not a supergraph is rejected", () => {
    expect(() => readAddresses(parse("type Query { a: Int }"), none)).toThrow("join__Graph");
  });
});

describe("the README", () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

  /** Cells of every table row whose first cell is code in capitals. */
  const rows = readme.matchAll(/^\| `([A-Z][A-Z0-9_<>]*)` \|(.*)\|$/gm);
  const table = new Map(
    [...rows].map(([, name = "", rest = ""]) => [name, rest.split("|").map((cell) => cell.trim())]),
  );

  test.each(describeEnvironment(readConfig))(
    "the README's table has $name with its default and its range",
    ({ name, fallback, range, why }) => {
      const [defaultCell = "", rangeCell = "", whyCell = ""] = table.get(name) ?? [];
      expect(defaultCell.replaceAll("`", "")).toBe(fallback?.replaceAll(",", ", ") ?? "–");
      if (range !== undefined) expect(rangeCell).toBe(range.replace("an integer from ", "").replace("one of ", ""));
      expect(whyCell).toBe(why);
    },
  );

  test.each(Object.entries(codes))(
    "the README's list has the code %s with its stage and status",
    (code, { stage, status }) => {
      expect(table.get(code)?.slice(0, 2)).toEqual([stage, String(status)]);
    },
  );

  test("the README names no variable and no code that there is not", () => {
    const known = new Set([
      ...describeEnvironment(readConfig).map(({ name }) => name),
      ...Object.keys(codes),
      "SUBGRAPH_URL_<NAME>",
      "SUBGRAPH_KEY_CHECK_<NAME>",
      "ENTITY_CACHE_<NAME>",
      "SUBGRAPH_FEED_URL_<NAME>",
      // Read only with an entity cache.
      "FEED_KEYS",
    ]);
    expect([...table.keys()].filter((name) => !known.has(name))).toEqual([]);
  });
});
