// The gateways to measure, and how each is started.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import type { Contender, ContenderContext } from "./contender.ts";
import { issuer } from "../graph/callers.ts";
import { subgraphNames, subgraphSdl } from "../graph/schemas.ts";
import { shopDocumentId, shopOperation } from "../workloads/operations.ts";
import { forwardedHeaders } from "../workloads/gateway-workloads.ts";
import { readNodeArguments } from "./image-arguments.ts";

const bench = join(import.meta.dirname, "..");
const callerWorkloads = ["callers", "callers-heavy", "callers-mixed"];

type Variables = Readonly<Record<string, string>>;

/** Callers are limited, by limits that the load does not reach, and metrics are on. */
const productionVariables: Variables = {
  PROFILE: "production",
  ADMIN_PORT: "0",
  TRUSTED_PROXIES: "none",
  CONSISTENCY_KEYS: "a-key-for-the-benchmark-only-of-40-chars",
  RATE_LIMIT_READS_PER_MINUTE: "100000000",
};

/** README.md describes each. */
export const gateways: readonly Contender[] = [
  {
    name: "stock",
    title: "stock Apollo",
    isOurs: false,
    start: (context) => ({
      args: [join(bench, "contenders/stock-apollo.ts")],
      environment: { ...toEnvironment(context), APOLLO_TELEMETRY_DISABLED: "1" },
    }),
  },
  createHive("hive", "Hive Gateway, Rust planner", "false"),
  createHive("hive-dedup", "Hive Gateway, Rust planner, inbound dedup", "true"),
  {
    name: "mercurius",
    title: "Mercurius, jit",
    isOurs: false,
    requires: "peers",
    start: (context) => ({
      args: [join(bench, "peers/mercurius.mjs")],
      environment: { PORT: String(context.port), SERVICES: toMercuriusServices(context) },
    }),
  },
  createOurs("ours-fast", "Tributary, fast path", { FAST_PATH: "true", FETCH_SHARING: "true" }),
  createOurs("ours-fast-alone", "Tributary, fast path, fetch sharing off", {
    FAST_PATH: "true",
    FETCH_SHARING: "false",
  }),
  createOurs("ours-full", "Tributary, full path", { FAST_PATH: "false", FETCH_SHARING: "true" }),
  createOurs("ours-full-alone", "Tributary, full path, fetch sharing off", {
    FAST_PATH: "false",
    FETCH_SHARING: "false",
  }),
  {
    ...createOurs("ours-latencies", "Tributary, fetch sharing off", { FAST_PATH: "true", FETCH_SHARING: "false" }),
    workloads: ["heavy-latencies"],
  },
  {
    ...createOurs("ours-documents", "Tributary, registered documents", {}),
    workloads: ["by-text", "by-id"],
    start: (context) => ({
      args: readNodeArguments("gateway"),
      // Documents are counted only with metrics.
      environment: { ...toEnvironment(context), SETTINGS_FILE: writeDocuments(context), ADMIN_PORT: "0" },
    }),
  },
  {
    ...createOurs("ours-headers", "three headers forwarded", {}),
    workloads: ["headers"],
    // Without fetch sharing, because a fetch with forwarded headers is not joined with others: the pair compares only what forwarding costs.
    baseline: createOurs("ours-headers-baseline", "not forwarded", { FETCH_SHARING: "false" }),
    baselineRatioMax: 1.06,
    start: (context) => ({
      args: readNodeArguments("gateway"),
      environment: {
        ...toEnvironment(context),
        FETCH_SHARING: "false",
        SETTINGS_FILE: writeHeaderRules(context),
      },
    }),
  },
  createForCallers("ours-callers", "Tributary", callerWorkloads, () => ({})),
  createForCallers("ours-entity-cache", "Tributary, entity cache", callerWorkloads, toEntityCacheVariables),
  createForCallers(
    "ours-production",
    "Tributary, production",
    ["small", "small-unshareable", "trivial", "callers"],
    () => productionVariables,
  ),
];

/** A gateway that verifies the tokens of callers. */
function createForCallers(
  name: string,
  title: string,
  workloads: readonly string[],
  toFurtherVariables: (context: ContenderContext) => Variables,
): Contender {
  return {
    name,
    title,
    isOurs: true,
    workloads,
    start: (context) => ({
      args: readNodeArguments("gateway"),
      environment: {
        ...toEnvironment(context),
        ISSUER: issuer,
        JWKS_URL: `${context.jwksUrl}/jwks`,
        ...toFurtherVariables(context),
      },
    }),
  };
}

/** The gateway caches the entities of every subgraph, and follows the change feeds. */
function toEntityCacheVariables({ feedUrl }: ContenderContext): Variables {
  const variables = subgraphNames.flatMap((subgraph) => {
    const suffix = subgraph.toUpperCase();
    return [
      [`ENTITY_CACHE_${suffix}`, "on"],
      [`SUBGRAPH_FEED_URL_${suffix}`, feedUrl],
    ] as const;
  });
  return Object.fromEntries(variables);
}

function createHive(name: string, title: string, inboundDedup: string): Contender {
  const bin = join(bench, "peers/node_modules/@graphql-hive/gateway/dist/bin.js");
  const config = join(bench, "peers/hive.config.mjs");
  return {
    name,
    title,
    isOurs: false,
    requires: "peers",
    start(context) {
      const address = ["--host", "127.0.0.1", "--port", String(context.port)];
      const planner = ["--hive-router-runtime", "--config-path", config];
      return {
        args: [bin, "supergraph", writeSupergraph(context), ...planner, ...address],
        environment: { INBOUND_DEDUP: inboundDedup },
      };
    },
  };
}

function createOurs(name: string, title: string, variables: Variables): Contender {
  return {
    name,
    title,
    isOurs: true,
    start: (context) => ({
      args: readNodeArguments("gateway"),
      environment: { ...toEnvironment(context), ...variables },
    }),
  };
}

/** The variables of stock Apollo and of every Tributary contender. Writes the supergraph to the contender's folder. */
function toEnvironment(context: ContenderContext) {
  return { SUPERGRAPH_FILE: writeSupergraph(context), PORT: String(context.port), HOST: "127.0.0.1" };
}

/** Returns the path of the file. */
function writeSupergraph({ folder, subgraphUrls }: ContenderContext): string {
  const services = subgraphNames.map((name) => ({ name, url: subgraphUrls[name], typeDefs: parse(subgraphSdl[name]) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new Error(`The benchmark's subgraphs do not compose: ${errors?.join("\n")}`);
  const file = join(folder, "supergraph.graphql");
  writeFileSync(file, supergraphSdl);
  return file;
}

/** Returns the path of the gateway's settings. */
function writeDocuments({ folder }: ContenderContext): string {
  const [settings, bundle] = ["gateway.yaml", "documents.json"].map((name) => join(folder, name)) as [string, string];
  const about = { client: "web", owner: "", file: "", operations: ["Shop"] };
  const documents = [{ id: shopDocumentId, text: shopOperation, ...about }];
  writeFileSync(bundle, JSON.stringify({ format: "tributary-documents", version: 1, documents }));
  writeFileSync(settings, `documents: { mode: log, file: ${bundle} }`);
  return settings;
}

/** Returns the path of the gateway's settings. */
function writeHeaderRules({ folder }: ContenderContext): string {
  const settings = join(folder, "gateway.yaml");
  const names = Object.keys(forwardedHeaders).join(", ");
  writeFileSync(settings, `headers: { all: { request: [{ propagate: { named: [${names}] } }] } }`);
  return settings;
}

/** Includes the schemas, because Mercurius reads no supergraph and does not parse the `_service` SDL of `@apollo/subgraph`. */
function toMercuriusServices({ subgraphUrls }: ContenderContext): string {
  return JSON.stringify(subgraphNames.map((name) => ({ name, url: subgraphUrls[name], schema: subgraphSdl[name] })));
}
