import { expect, test } from "vitest";
import { ConfigError, type Environment, readEnvironment } from "./env.ts";
import { type Log, silentLog } from "./log.ts";
import { warnOfMisspeltVariables } from "./misspelt-variables.ts";

const read = (environment: Environment) =>
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

const namesIn = (environment: Environment) => read(environment).map(({ name }) => name);

test.each([
  ["REQEST_TIMEOUT_MS", "REQUEST_TIMEOUT_MS"],
  ["REQEUST_TIMEOUT_MS", "REQUEST_TIMEOUT_MS"],
  ["REQUEST_TIMOUT_M", "REQUEST_TIMEOUT_MS"],
  ["PROT", "PORT"],
  ["ADMIN_PORTS", "ADMIN_PORT"],
  ["ADMIM_PORT", "ADMIN_PORT"],
  ["OTEL_EXPORTER_OTLP_ENDPIONT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["SUBGRPAH_URL_USERS", "SUBGRAPH_URL_…"],
  ["SUBGRAPH_URLS_USERS", "SUBGRAPH_URL_…"],
  ["SUBGRAP_URL_USERS", "SUBGRAPH_URL_…"],
])("%s is reported with %s", (name, nearest) => {
  expect(read({ [name]: "5" })).toEqual([{ name, nearest }]);
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
  warnOfMisspeltVariables(log, read({ REQEST_TIMEOUT_MS: "sesame" }));
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
