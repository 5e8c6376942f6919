import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

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
  expect(readConfig({ ...enough, PROFILE: "production" }).corsOrigins).toEqual([]);
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
  [{ ...enough, ISSUER_URL: "http://127.0.0.1:4020", PROFILE: "production" }, /ISSUER_URL is for PROFILE=development/],
  [{ ...enough, ISSUER_URL: "issuer" }, /ISSUER_URL is not an http/],
  [{ ...enough, SUBGRAPH_TIMEOUT_MS: "1" }, /SUBGRAPH_TIMEOUT_MS/],
  [{ ...enough, OVERRIDE_LABELS: "beta,percent(5)" }, /OVERRIDE_LABELS: a label starts with a letter/],
  [{ ...enough, OVERRIDE_LABELS: Array.from({ length: 33 }, (_, i) => `l${i}`).join() }, /at most 32 labels/],
])("%j is refused", (environment, reason) => {
  expect(() => readConfig(environment)).toThrow(ConfigError);
  expect(() => readConfig(environment)).toThrow(reason);
});

test("FAST_LANE is refused with its new name", () => {
  expect(() => readConfig({ ...enough, FAST_LANE: "false" })).toThrow("FAST_LANE is now named FAST_PATH");
  expect(readConfig({ ...enough, FAST_PATH: "false" }).fastPath).toBe(false);
});
