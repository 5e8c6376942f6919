import { expect, test } from "vitest";
import { ConfigError, describeEnvironment, type Environment, readEnvironment } from "./env.ts";

const read = (environment: Environment) =>
  readEnvironment(environment, (env) => ({
    port: env.integer("PORT", { fallback: 4000, min: 0, max: 65_535, why: "to listen on" }),
    databaseUrl: env.url("DATABASE_URL", { why: "the data", secret: true }),
    profile: env.choice("PROFILE", {
      fallback: "development",
      of: ["development", "production"],
      why: "what is allowed",
    }),
    keys: env.list("KEYS", { fallback: [], why: "sign" }),
    open: env.flag("OPEN", { fallback: false, why: "who comes in" }),
    extra: env.optional("EXTRA", { why: "more" }),
    others: env.withPrefix("SUBGRAPH_URL_"),
  }));

test("a variable that is not set or empty has its default", () => {
  expect(read({ DATABASE_URL: "postgres://u@h/d", PORT: "" })).toEqual({
    port: 4000,
    databaseUrl: "postgres://u@h/d",
    profile: "development",
    keys: [],
    open: false,
    extra: undefined,
    others: {},
  });
});

test("a variable that is set is parsed by its kind", () => {
  const config = read({
    DATABASE_URL: "http://h",
    PORT: "80",
    PROFILE: "production",
    KEYS: " a, ,b ",
    OPEN: "true",
    EXTRA: "x",
    SUBGRAPH_URL_USERS: "http://u",
  });
  expect(config).toMatchObject({ port: 80, profile: "production", keys: ["a", "b"], open: true, extra: "x" });
  expect(config.others).toEqual({ SUBGRAPH_URL_USERS: "http://u" });
});

test("all problems are reported at once, without secrets", () => {
  const wrong = { PORT: "70000", DATABASE_URL: "mysql://ada:sesame@h/d", PROFILE: "prod", OPEN: "yes" };
  const problems = problemsOf(() => read(wrong));
  expect(problems).toHaveLength(4);
  expect(problems[0]).toBe('PORT="70000" is not an integer from 0 to 65535: to listen on');
  expect(problems.join("\n")).not.toContain("sesame");
});

test("a missing required variable is reported with its reason", () => {
  expect(problemsOf(() => read({}))).toEqual(["DATABASE_URL is required: the data"]);
});

test("numbers are whole, decimal and in range", () => {
  for (const PORT of ["1e3", "0x10", "1.5", " 1", "-1", "9".repeat(20)]) {
    expect(problemsOf(() => read({ DATABASE_URL: "http://h", PORT }))).toHaveLength(1);
  }
});

test("a reader describes its variables without having any", () => {
  expect(describeEnvironment(read).map(({ name, required, fallback }) => [name, required, fallback])).toEqual([
    ["PORT", false, "4000"],
    ["DATABASE_URL", true, undefined],
    ["PROFILE", false, "development"],
    ["KEYS", false, ""],
    ["OPEN", false, "false"],
    ["EXTRA", false, undefined],
  ]);
});

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("a number may have decimals; an optional variable may be missing, but not invalid", () => {
  const readThem = (environment: Environment) =>
    readEnvironment(environment, (env) => ({
      ratio: env.number("RATIO", { fallback: 0.01, min: 0, max: 1, why: "a share" }),
      port: env.optionalInteger("ADMIN_PORT", { min: 0, max: 65_535, why: "a port" }),
      url: env.optionalUrl("COLLECTOR", { why: "an address" }),
    }));
  expect(readThem({})).toEqual({ ratio: 0.01, port: undefined, url: undefined });
  expect(readThem({ RATIO: "0.5", ADMIN_PORT: "0", COLLECTOR: "http://c:4318" })).toEqual({
    ratio: 0.5,
    port: 0,
    url: "http://c:4318",
  });
  expect(problemsOf(() => readThem({ RATIO: "1.5", ADMIN_PORT: "-1", COLLECTOR: "c" }))).toEqual([
    'RATIO="1.5" is not a number from 0 to 1: a share',
    'ADMIN_PORT="-1" is not an integer from 0 to 65535: a port',
    'COLLECTOR="c" is not an http(s) or postgres URL: an address',
  ]);
});

test("a variable with an old name is refused with its new name, and gets no hint about its spelling", () => {
  const readRenamed = (environment: Environment) =>
    readEnvironment(environment, (env) => {
      env.renamed("CACHE_OLD_MAX", "CACHE_NEW_MAX");
      return env.integer("CACHE_NEW_MAX", { fallback: 1, min: 1, max: 9, why: "bounds the cache" });
    });
  expect(() => readRenamed({ CACHE_OLD_MAX: "2" })).toThrow(
    new ConfigError(["CACHE_OLD_MAX is now named CACHE_NEW_MAX: set CACHE_NEW_MAX instead"]),
  );
  expect(readRenamed({ CACHE_OLD_MAX: "", CACHE_NEW_MAX: "2" })).toBe(2);
});
