import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, type Environment, describeEnvironment } from "@tributary/kit/process/env";
import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { codes } from "./errors/codes.ts";

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
    expect(readConfig({ SUPERGRAPH_URL: "https://registry.example/supergraph" }).supergraph.urls).toEqual([
      "https://registry.example/supergraph",
    ]);
  });

  test("the file may name the source of the supergraph, and a variable replaces it", () => {
    const supergraph = { url: ["https://a.example/s", "https://b.example/s"], headers: { "x-key": "k" } };
    const ofFile = readConfig({}, { supergraph }).supergraph;
    expect(ofFile).toMatchObject({ file: undefined, urls: supergraph.url, headers: supergraph.headers });
    const ofVariable = readConfig(enough, { supergraph: { ...supergraph, last_good: "/last" } }).supergraph;
    expect(ofVariable).toMatchObject({ file: "supergraph.graphql", urls: undefined, lastGood: "/last" });
    expect(() => readConfig({}, { supergraph: { last_good: "/last" } })).toThrow("supergraph.url");
  });

  test("pages of localhost may read responses in development, and no page in production", () => {
    const localhost = ["http://localhost:*", "http://127.0.0.1:*"];
    expect(readConfig(enough)).toMatchObject({ corsOrigins: undefined, defaultCorsOrigins: localhost });
    expect(readConfig({ ...enough, ...inProduction })).toMatchObject({
      corsOrigins: undefined,
      defaultCorsOrigins: [],
    });
    expect(readConfig({ ...enough, CORS_ORIGINS: "https://a.example, https://b.example" }).corsOrigins).toEqual([
      "https://a.example",
      "https://b.example",
    ]);
  });

  test.each(["https://app.example/", "app.example", "https://App.example", "https://app.example/*", "https://*"])(
    "CORS_ORIGINS with %s, which no browser sends, is refused",
    (origin) => {
      const read = () => readConfig({ ...enough, CORS_ORIGINS: `https://a.example,${origin}` });
      expect(read).toThrow(`CORS_ORIGINS: ${JSON.stringify(origin)} has to be an origin`);
    },
  );

  test("the URL of the REST proxy is used without a slash at its end", () => {
    expect(readConfig({ ...enough, REST_PROXY_URL: "http://a/rest/" }).restProxyUrl).toBe("http://a/rest");
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
    [{ ...enough, REST_PROXY_URL: "http://a", ...inProduction }, /REST_PROXY_URL is for PROFILE=development/],
    [{ ...enough, TRACE_URL_TEMPLATE: "http://a/{traceId}", ...inProduction }, /TRACE_URL_TEMPLATE is for PROFILE=dev/],
    [{ ...enough, TRACE_URL_TEMPLATE: "javascript:{traceId}" }, /TRACE_URL_TEMPLATE is not an http/],
    [{ ...enough, TRACE_URL_TEMPLATE: "http://a/trace/" }, /TRACE_URL_TEMPLATE has no \{traceId\}/],
    [{ ...enough, SUBGRAPH_TIMEOUT_MS: "1" }, /SUBGRAPH_TIMEOUT_MS/],
    [{ ...enough, OVERRIDE_LABELS: "beta,percent(5)" }, /OVERRIDE_LABELS: a label starts with a letter/],
    [{ ...enough, OVERRIDE_LABELS: Array.from({ length: 33 }, (_, i) => `l${i}`).join() }, /at most 32 labels/],
  ])("%j is refused", (environment, reason) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(reason);
  });
});

describe("the README", () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const sharedVariables = readFileSync(join(import.meta.dirname, "../../docs/variables.md"), "utf8");

  /** Cells of every table row whose first cell is code in capitals. */
  const rows = `${readme}\n${sharedVariables}`.matchAll(/^\| `([A-Z][A-Z0-9_<>]*)` \|(.*)\|$/gm);
  const table = new Map(
    [...rows].map(([, name = "", rest = ""]) => [name, rest.split("|").map((cell) => cell.trim())]),
  );

  test.each(describeEnvironment(readConfig))(
    "the README's table has $name with its default and its range",
    ({ name, fallback, range, why }) => {
      const [defaultCell = "", rangeCell = "", whyCell = ""] = table.get(name) ?? [];
      expect(defaultCell.replaceAll("`", "")).toBe(fallback ?? "none");
      if (range !== undefined) expect(rangeCell).toBe(range.replace(/^(an integer from|a number from|one of) /, ""));
      expect(whyCell).toBe(why);
    },
  );

  test.each(Object.entries(codes))(
    "the README's list has the code %s with its stage and statuses",
    (code, { stage, statuses: { json, graphql, draft } }) => {
      expect(table.get(code)?.slice(0, 4)).toEqual([stage, ...[json, graphql, draft].map(String)]);
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
