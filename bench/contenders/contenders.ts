import { join } from "node:path";
import type { SubgraphUrls } from "../graph/compose.ts";
import { subgraphNames, subgraphSdl } from "../graph/schemas.ts";
import { readStartCommand } from "./start-command.ts";

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

/** What a contender is started with. */
interface Ground {
  readonly port: number;
  readonly supergraphFile: string;
  readonly subgraphUrls: SubgraphUrls;
}

export interface Contender {
  readonly name: ContenderName;
  readonly title: string;
  /** Needs what `bench/peers` installs. */
  readonly isPeer: boolean;
  /** What the targets are about. */
  readonly isOurs: boolean;
  /** Node's arguments: a script and what it is told. */
  command(ground: Ground): readonly string[];
  environment(ground: Ground): Readonly<Record<string, string>>;
}

const bench = join(import.meta.dirname, "..");

const fast = { FAST_PATH: "true", FETCH_SHARING: "true" };

export const contenders: readonly Contender[] = [
  {
    name: "stock",
    title: "stock Apollo",
    isPeer: false,
    isOurs: false,
    command: () => [join(bench, "stock/main.ts")],
    environment: (ground) => ({ ...listenOn(ground), APOLLO_TELEMETRY_DISABLED: "1" }),
  },
  hive("hive", "Hive Gateway, Rust planner", "false"),
  hive("hive-dedup", "Hive Gateway, Rust planner, inbound dedup", "true"),
  {
    name: "mercurius",
    title: "Mercurius, jit",
    isPeer: true,
    isOurs: false,
    command: () => [join(bench, "peers/mercurius.mjs")],
    environment: ({ port, subgraphUrls }) => ({ PORT: String(port), SERVICES: toMercuriusServices(subgraphUrls) }),
  },
  ours("ours-fast", "ours, fast lane", fast),
  ours("ours-fast-alone", "ours, fast lane, nothing shared", { FAST_PATH: "true", FETCH_SHARING: "false" }),
  ours("ours-full", "ours, full lane", { FAST_PATH: "false", FETCH_SHARING: "true" }),
  ours("ours-full-alone", "ours, full lane, nothing shared", { FAST_PATH: "false", FETCH_SHARING: "false" }),
];

function hive(name: ContenderName, title: string, inboundDedup: string): Contender {
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

function ours(name: ContenderName, title: string, set: Readonly<Record<string, string>>): Contender {
  return {
    name,
    title,
    isPeer: false,
    isOurs: true,
    command: () => readStartCommand("gateway"),
    environment: (ground) => ({ ...listenOn(ground), ...set }),
  };
}

/** With their schemas, as it knows no supergraph; what `@apollo/subgraph` prints for `_service` it does not understand. */
function toMercuriusServices(urls: SubgraphUrls): string {
  return JSON.stringify(subgraphNames.map((name) => ({ name, url: urls[name], schema: subgraphSdl[name] })));
}

function listenOn({ port, supergraphFile }: Ground) {
  return { SUPERGRAPH_FILE: supergraphFile, PORT: String(port), HOST: "127.0.0.1" };
}
