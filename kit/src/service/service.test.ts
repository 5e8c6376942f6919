import { expect, test } from "vitest";
import { ConfigError, type Environment } from "../process/env.ts";
import { readServiceConfig } from "./service-config.ts";
import { runService } from "./service.ts";

test.each([
  [["migrat"], "Unknown command migrat. The only command is migrate."],
  [["migrate", "now"], "Unknown argument now. The only command is migrate."],
])("the arguments %j are rejected, and the service is not started", async (args, problem) => {
  let isStarted = false;
  const started = runService({
    name: "things",
    // Port 9 has no database: a started service or migration would fail with another error.
    config: readServiceConfig({ DATABASE_URL: "postgres://things@127.0.0.1:9/none", PORT: "0" }, { port: 0 }),
    migrations: new URL("migrations/", import.meta.url),
    createApp: () => {
      isStarted = true;
      throw new Error("The service was started.");
    },
    args,
  });
  await expect(started).rejects.toThrow(problem);
  expect(isStarted).toBe(false);
});

const production = {
  PROFILE: "production",
  DATABASE_URL: "postgres://users@db/users",
  ISSUER: "https://id.example.org",
  JWKS_URL: "https://id.example.org/keys",
  CURSOR_KEYS: "one key that is long enough,another that is long",
  FEED_KEYS: "a key that is long enough",
};

test("development needs only a database", () => {
  const config = readServiceConfig({ DATABASE_URL: "postgres://localhost/users" }, { port: 4001 });
  expect(config).toMatchObject({
    profile: "development",
    host: "127.0.0.1",
    port: 4001,
    issuer: "http://127.0.0.1:4020",
  });
});

test("production requires all values", () => {
  expect(readServiceConfig(production, { port: 4001 }).cursorKeys).toHaveLength(2);
  for (const name of ["DATABASE_URL", "ISSUER", "JWKS_URL", "CURSOR_KEYS", "FEED_KEYS"]) {
    expect(problemsOf({ ...production, [name]: undefined }).join()).toContain(`${name} is required`);
  }
});

test("production never trusts the local issuer", () => {
  for (const ISSUER of ["http://127.0.0.1:4020", "http://localhost:4020", "http://issuer:4020"]) {
    expect(problemsOf({ ...production, ISSUER })).toEqual([
      "ISSUER and JWKS_URL name the local issuer, which is for development only.",
    ]);
  }
  expect(problemsOf({ ...production, JWKS_URL: "http://issuer:4020/.well-known/jwks.json" })).toHaveLength(1);
  for (const JWKS_URL of ["https://user:pw@id.example.org/keys", "postgres://id.example.org/keys"])
    expect(problemsOf({ ...production, JWKS_URL })).toEqual([expect.stringContaining("JWKS_URL has to be an http(s)")]);
});

test.each(["CURSOR_KEYS", "FEED_KEYS"])("a short key in %s is rejected without being quoted", (name) => {
  expect(problemsOf({ ...production, [name]: "short" })).toEqual([`${name}: each key has at least 16 characters.`]);
});

test("the feed has a port of its own, by default 100 above the service's", () => {
  expect(readServiceConfig(production, { port: 4001 }).feedPort).toBe(4101);
  expect(readServiceConfig({ ...production, PORT: "0" }, { port: 4001 }).feedPort).toBe(0);
  expect(readServiceConfig({ ...production, PORT: "5000", FEED_PORT: "6000" }, { port: 4001 }).feedPort).toBe(6000);
});

function problemsOf(environment: Environment): readonly string[] {
  try {
    readServiceConfig(environment, { port: 4001 });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
