import { join } from "node:path";
import type { SubgraphUrls } from "../graph/compose.ts";
import { subgraphNames, subgraphSdl } from "../graph/schemas.ts";
import { readNodeArguments } from "./image-arguments.ts";

export const contenderNames = [
  "stock",
  "hive",
  "hive-dedup",
  "mercurius",
  "ours-fast",
  "ours-fast-alone",
  "ours-full",
  "ours-full-alone",
] as const;

export type ContenderName = (typeof contenderNames)[number];

interface ContenderContext {
  readonly port: number;
  readonly supergraphFile: string;
  readonly subgraphUrls: SubgraphUrls;
}

export interface Contender {
  readonly name: ContenderName;
  readonly title: string;
  /** Whether it must be installed from `bench/peers`. */
  readonly isPeer: boolean;
  /** Whether it is Tributary's gateway, which the targets apply to. */
  readonly isOurs: boolean;
  /** Node's arguments: options, script and its arguments. */
  command(context: ContenderContext): readonly string[];
  environment(context: ContenderContext): Readonly<Record<string, string>>;
}

const bench = join(import.meta.dirname, "..");

export const contenders: readonly Contender[] = [
  {
    name: "stock",
    title: "stock Apollo",
    isPeer: false,
    isOurs: false,
    command: () => [join(bench, "contenders/stock-apollo.ts")],
    environment: (context) => ({ ...listenOn(context), APOLLO_TELEMETRY_DISABLED: "1" }),
  },
  createHiveContender("hive", "Hive Gateway, Rust planner", "false"),
  createHiveContender("hive-dedup", "Hive Gateway, Rust planner, inbound dedup", "true"),
  {
    name: "mercurius",
    title: "Mercurius, jit",
    isPeer: true,
    isOurs: false,
    command: () => [join(bench, "peers/mercurius.mjs")],
    environment: ({ port, subgraphUrls }) => ({ PORT: String(port), SERVICES: toMercuriusServices(subgraphUrls) }),
  },
  createOurContender("ours-fast", "Tributary, fast path", { FAST_PATH: "true", FETCH_SHARING: "true" }),
  createOurContender("ours-fast-alone", "Tributary, fast path, fetch sharing off", {
    FAST_PATH: "true",
    FETCH_SHARING: "false",
  }),
  createOurContender("ours-full", "Tributary, full path", { FAST_PATH: "false", FETCH_SHARING: "true" }),
  createOurContender("ours-full-alone", "Tributary, full path, fetch sharing off", {
    FAST_PATH: "false",
    FETCH_SHARING: "false",
  }),
];

function createHiveContender(name: ContenderName, title: string, inboundDedup: string): Contender {
  const bin = join(bench, "peers/node_modules/@graphql-hive/gateway/dist/bin.js");
  const config = join(bench, "peers/hive.config.mjs");
  return {
    name,
    title,
    isPeer: true,
    isOurs: false,
    command: ({ port, supergraphFile }) => {
      const address = ["--host", "127.0.0.1", "--port", String(port)];
      return [bin, "supergraph", supergraphFile, "--hive-router-runtime", "--config-path", config, ...address];
    },
    environment: () => ({ INBOUND_DEDUP: inboundDedup }),
  };
}

function createOurContender(
  name: ContenderName,
  title: string,
  variables: Readonly<Record<string, string>>,
): Contender {
  return {
    name,
    title,
    isPeer: false,
    isOurs: true,
    command: () => readNodeArguments("gateway"),
    environment: (context) => ({ ...listenOn(context), ...variables }),
  };
}

/** Includes the schemas, because Mercurius reads no supergraph and does not parse the `_service` SDL of `@apollo/subgraph`. */
function toMercuriusServices(urls: SubgraphUrls): string {
  return JSON.stringify(subgraphNames.map((name) => ({ name, url: urls[name], schema: subgraphSdl[name] })));
}

function listenOn({ port, supergraphFile }: ContenderContext) {
  return { SUPERGRAPH_FILE: supergraphFile, PORT: String(port), HOST: "127.0.0.1" };
}
