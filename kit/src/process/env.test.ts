import { expect, test } from "vitest";
import { expectReadmeTable } from "../testing/readme.ts";
import { ConfigError, describeEnvironment, type Environment, readEnvironment } from "./env.ts";
import { type Log, silentLog } from "./log.ts";
import { warnOfMisspeltVariables } from "./misspelt-variables.ts";

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

test("a list has at least one element if it is set", () => {
  const readKeys = (KEYS: string) =>
    readEnvironment({ KEYS }, (env) => env.list("KEYS", { fallback: ["a"], secret: true, why: "keys" }));
  expect([readKeys(" b, ,c"), readKeys("")]).toEqual([["b", "c"], ["a"]]);
  expect(problemsOf(() => readKeys(" ,"))).toEqual(["KEYS=… is not a list: keys"]);
});

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

const readMisspelt = (environment: Environment) =>
  readEnvironment(environment, (env) => {
    const { misspeltVariables } = env;
    env.integer("PORT", { fallback: 0, min: 0, max: 9, why: "to listen on" });
    env.optional("HOST", { why: "to listen on" });
    env.optional("ADMIN_PORT", { why: "metrics" });
    env.optional("REQUEST_TIMEOUT_MS", { why: "patience" });
    env.optional("OTEL_EXPORTER_OTLP_ENDPOINT", { why: "traces" });
    env.withPrefix("SUBGRAPH_URL_");
    return { misspeltVariables };
  }).misspeltVariables;

const namesIn = (environment: Environment) => readMisspelt(environment).map(({ name }) => name);

test.each([
  ["REQEST_TIMEOUT_MS", "REQUEST_TIMEOUT_MS"],
  ["REQEUST_TIMEOUT_MS", "REQUEST_TIMEOUT_MS"],
  ["REQUEST_TIMOUT_M", "REQUEST_TIMEOUT_MS"],
  ["PROT", "PORT"],
  ["ADMIN_PORTS", "ADMIN_PORT"],
  ["ADMIM_PORT", "ADMIN_PORT"],
  ["SUBGRPAH_URL_USERS", "SUBGRAPH_URL_…"],
  ["SUBGRAPH_URLS_USERS", "SUBGRAPH_URL_…"],
])("%s is reported with %s", (name, nearest) => {
  expect(readMisspelt({ [name]: "5" })).toEqual([{ name, nearest }]);
});

test("variables that are read, are empty, or resemble none that is read are not reported", () => {
  const known = ["PORT", "HOST", "REQUEST_TIMEOUT_MS", "SUBGRAPH_URL_USRES"];
  const system = ["PATH", "HOME", "PWD", "USER", "TERM", "LANG", "SHELL", "HOSTNAME", "TZ", "NODE_ENV", "NODE_OPTIONS"];
  const tools = ["npm_config_port", "npm_lifecycle_event", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES"];
  const set = Object.fromEntries([...known, ...system, ...tools].map((name) => [name, "1"]));
  expect(namesIn({ ...set, PROT: "" })).toEqual([]);
});

test("variables that Kubernetes sets for a service are not reported, however near their names are", () => {
  const links = ["ADMIM_SERVICE_HOST", "ADMIM_SERVICE_PORT", "ADMIM_SERVICE_PORT_HTTP", "ADMIM_PORT"];
  const more = ["ADMIM_PORT_80_TCP", "ADMIM_PORT_80_TCP_ADDR"];
  expect(namesIn(Object.fromEntries([...links, ...more].map((name) => [name, "10.0.0.1"])))).toEqual([]);
});

test("the warning names both variables and no value", () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, warn: (...line: unknown[]) => void lines.push(line) };
  warnOfMisspeltVariables(log, readMisspelt({ REQEST_TIMEOUT_MS: "sesame" }));
  expect(lines).toEqual([
    [
      { variable: "REQEST_TIMEOUT_MS", nearest: "REQUEST_TIMEOUT_MS" },
      "unknown variable REQEST_TIMEOUT_MS ignored: did you mean REQUEST_TIMEOUT_MS?",
    ],
  ]);
});

test("an invalid configuration is reported together with its misspelt variables", () => {
  const readRequired = (environment: Environment) =>
    readEnvironment(environment, (env) => env.url("DATABASE_URL", { why: "the data" }));
  expect(() => readRequired({ DATABSE_URL: "postgres://ada:sesame@h/d" })).toThrow(
    new ConfigError(["DATABASE_URL is required: the data", "DATABSE_URL is unknown: did you mean DATABASE_URL?"]),
  );
});

const descriptions = describeEnvironment((environment: Environment) =>
  readEnvironment(environment, (env) => ({
    port: env.integer("PORT", { fallback: 4_002, min: 0, max: 65_535, why: "where to listen" }),
    url: env.string("DATABASE_URL", { why: "the data" }),
    hint: env.optional("HINT", { why: "a hint" }),
    host: env.string("HOST", { fallback: "127.0.0.1", why: "in docs/variables.md" }),
  })),
);

const head = "# A service\n\n| variable | default | range | meaning |\n|---|---|---|---|\n";
const port = "| `PORT` | `4002` | 0 to 65535 | where to listen |\n";
const url = "| `DATABASE_URL` | required | | the data |\n";
const hint = "| `HINT` | none | | a hint |\n";

test("a correct table of variables in a README, with docs/variables.md, has no differences", () => {
  expect(expectReadmeTable(`${head}${port}${url}${hint}\nText | after it |`, descriptions)).toEqual([]);
});

test("a missing or unknown variable, another range and a missing reason are differences", () => {
  const stale = "| `PORT` | `4001` | 1 to 65535 | |\n| `OLD` | none | | gone |\n";
  expect(expectReadmeTable(`${head}${stale}${url}`, descriptions)).toEqual([
    "PORT: the default is 4002, not 4001",
    "PORT: the range is 0 to 65535, not 1 to 65535",
    "PORT: there is no reason, such as: where to listen",
    "HINT is missing: | HINT | none |  | a hint |",
    "OLD is in the table, and nothing reads it",
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
