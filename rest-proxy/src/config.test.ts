import { readFileSync } from "node:fs";
import { describeEnvironment } from "@tributary/kit/process/env";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, test } from "vitest";
import { readConfig, readRoutesFilePath } from "./config.ts";

const services = ["comments", "orders", "posts", "users"];

test("the README's table of variables is what the configuration reads", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const described = describeEnvironment((environment) => readConfig(environment, ["<service>"]));
  expect(expectReadmeTable(readme, described)).toEqual([]);
});

test("without variables, it is the development proxy in front of the local services", () => {
  expect(readConfig({}, services)).toMatchObject({
    profile: "development",
    port: 4010,
    host: "127.0.0.1",
    routesFile: "supergraph/routes.json",
    defaultVersion: 2,
    corsOrigins: ["http://localhost:*", "http://127.0.0.1:*"],
    bodyBytesMax: 65_536,
    addresses: {
      users: ["http://127.0.0.1:4001"],
      posts: ["http://127.0.0.1:4002"],
      comments: ["http://127.0.0.1:4003"],
      orders: ["http://127.0.0.1:4004"],
    },
  });
});

test("every service of the table has a variable, derived from its name", () => {
  expect(() => readConfig({}, ["users", "billing-core"])).toThrow("BILLING_CORE_URL is required");
  expect(readConfig({ BILLING_CORE_URL: "https://billing.example" }, ["billing-core"]).addresses).toEqual({
    "billing-core": ["https://billing.example"],
  });
});

const inProduction = {
  PROFILE: "production",
  TRUSTED_PROXIES: "none",
  FEED_KEYS: "a key that is long enough",
  CONSISTENCY_KEYS: "a key that is long enough",
};

test("a production without change feeds needs no key for them", () => {
  const environment = { ...inProduction, FEED_KEYS: "", BOOKS_URL: "http://books" };
  expect(() => readConfig(environment, ["books"])).toThrow("FEED_KEYS is required");
  expect(readConfig({ ...environment, BOOKS_FEED_URL: "none" }, ["books"])).toMatchObject({ feedUrls: {} });
});

test("production has no default addresses and origins, and all problems are reported at once", () => {
  expect(() => readConfig({ PROFILE: "production", USERS_URL: "http://users:4001" }, services)).toThrow(
    /COMMENTS_URL is required[^]*ORDERS_URL is required[^]*POSTS_URL is required[^]*TRUSTED_PROXIES is required/,
  );
  const { corsOrigins, rateLimitConfig } = readConfig(inProduction, []);
  expect(corsOrigins).toEqual([]);
  expect(rateLimitConfig).toMatchObject({
    readsPerMinute: 6_000,
    writesPerMinute: 600,
    exempt: [],
  });
});

test("only a development has a token issuer for the pages", () => {
  expect(readConfig({ ISSUER_URL: "http://127.0.0.1:4020" }, []).issuerUrl).toBe("http://127.0.0.1:4020");
  expect(readConfig({ GATEWAY_URL: "http://127.0.0.1:4000/" }, []).gatewayUrl).toBe("http://127.0.0.1:4000");
  expect(() => readConfig({ ...inProduction, ISSUER_URL: "http://127.0.0.1:4020" }, [])).toThrow(
    "ISSUER_URL is for PROFILE=development",
  );
  expect(() => readConfig({ ...inProduction, GATEWAY_URL: "http://127.0.0.1:4000" }, [])).toThrow(
    "GATEWAY_URL is for PROFILE=development",
  );
});

test("CORS_ORIGINS has origins and patterns of them", () => {
  const corsOrigins = ["https://a.example", "https://*.example.com", "http://localhost:*", "http://[::1]:8080", "*"];
  expect(readConfig({ CORS_ORIGINS: corsOrigins.join() }, [])).toMatchObject({ corsOrigins });
});

test.each(["https://app.example/", "app.example", "https://App.example", "https://app.example/*", "https://*"])(
  "CORS_ORIGINS with %s, which no browser sends, is refused",
  (origin) => {
    const read = () => readConfig({ CORS_ORIGINS: `https://a.example,${origin}` }, []);
    expect(read).toThrow(`CORS_ORIGINS: ${JSON.stringify(origin)} has to be an origin`);
  },
);

test("networks are parsed, none is the empty list, and an invalid network is named in the error", () => {
  const { rateLimitConfig, callerConfig } = readConfig({ TRUSTED_PROXIES: "10.0.0.0/8, ::1" }, []);
  expect(rateLimitConfig.exempt).toEqual(["127.0.0.0/8", "::1"]);
  expect(callerConfig.trustedProxies).toEqual(["10.0.0.0/8", "::1"]);
  expect(readConfig({ RATE_LIMIT_EXEMPT: "none" }, []).rateLimitConfig.exempt).toEqual([]);
  const wrong = { TRUSTED_PROXIES: "10.0.0.0/40", RATE_LIMIT_EXEMPT: "localhost" };
  expect(() => readConfig(wrong, [])).toThrow(
    /TRUSTED_PROXIES: "10.0.0.0\/40" is[^]*RATE_LIMIT_EXEMPT: "localhost" is/,
  );
});

test.each([
  "http://users:4001/rest",
  "http://users:4001?x",
  "http://u:p@users:4001",
  "postgres://users:4001",
  "users:4001",
])("%s is not a valid address of a service", (address) => {
  expect(() => readConfig({ USERS_URL: address }, ["users"])).toThrow("USERS_URL");
});

test("an address may end in a slash", () => {
  expect(readConfig({ USERS_URL: "http://users:4001/" }, ["users"]).addresses).toEqual({
    users: ["http://users:4001"],
  });
});

test("a service may have several addresses, each counted once", () => {
  expect(readConfig({ USERS_URL: "http://a:1, http://b:2/,http://a:1/" }, ["users"]).addresses).toEqual({
    users: ["http://a:1", "http://b:2"],
  });
  expect(() => readConfig({ USERS_URL: "http://a:1,b:2" }, ["users"])).toThrow("USERS_URL has to be http(s) addresses");
});

test("the feed of a service is 100 above its port, unless a variable names it or says that there is none", () => {
  const addresses = { USERS_URL: "http://a:1,http://b:2", POSTS_URL: "http://posts" };
  expect(readConfig(addresses, ["users", "posts"]).feedUrls).toEqual({
    users: ["http://a:101", "http://b:102"],
    posts: ["http://posts:180"],
  });
  const named = { ...addresses, USERS_FEED_URL: "http://feed:9", POSTS_FEED_URL: "none" };
  expect(readConfig(named, ["users", "posts"]).feedUrls).toEqual({ users: ["http://feed:9"] });
  expect(() => readConfig({ ...addresses, USERS_FEED_URL: "feed:9" }, ["users"])).toThrow("USERS_FEED_URL");
});

test("versions are retired by date, or in days from now", () => {
  const environment = { DEPRECATED_VERSIONS: "1=2029-01-01", SUNSET_VERSIONS: "1=+2d" };
  expect(readConfig(environment, [], Date.UTC(2030, 0, 1)).retirements).toEqual([
    { version: 1, deprecatedAtMs: Date.UTC(2029, 0, 1), sunsetAtMs: Date.UTC(2030, 0, 3) },
  ]);
  expect(() => readConfig({ SUNSET_VERSIONS: "1=soon" }, [])).toThrow('"1=soon" is not a version with a date');
});

test("no version is retired by default", () => {
  const none = { DEPRECATED_VERSIONS: "none", SUNSET_VERSIONS: "none" };
  for (const environment of [{}, inProduction, none]) expect(readConfig(environment, []).retirements).toEqual([]);
});

test("known clients are a hundred at most", () => {
  expect(readConfig({ KNOWN_CLIENTS: "shop, app" }, []).knownClients).toEqual(["shop", "app"]);
  expect(() => readConfig({ KNOWN_CLIENTS: "x,".repeat(101) }, [])).toThrow("KNOWN_CLIENTS has at most 100 names");
});

test("the route table's file can be read before the services are known", () => {
  expect(readRoutesFilePath({})).toBe("supergraph/routes.json");
  expect(readRoutesFilePath({ ROUTES_FILE: "/etc/routes.json" })).toBe("/etc/routes.json");
});
