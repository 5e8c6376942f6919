// Starts the gateway under test in a monitored process. With `--control` an unmodified Apollo Gateway is tested instead.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { launch } from "@tributary/kit/testing/processes/launched-process";
import { readNodeArguments } from "../../../../bench/contenders/image-arguments.ts";
import { readProcess } from "../../../../bench/measure/proc.ts";
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { replaceFile } from "../../../replace-file.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import type { LoopPauses } from "../../../../bench/preload/loop-pauses.ts";
import { addPreload, collectReport } from "../../../../bench/preload/preload.ts";

export interface TestedGateway {
  /** Base URL. */
  readonly url: string;
  /** Replaces the supergraph. Resolves when it is loaded. */
  publish(supergraphSdl: string): Promise<void>;
  /** Pauses of the event loop since the last call, and the heap after a garbage collection. @throws GatewayFault if the gateway has ended or does not respond in time. */
  measureLoop(): Promise<LoopPauses>;
  /** @throws GatewayFault if the gateway has ended. */
  readRssBytes(): number;
  /** The highest RSS since its start. @throws GatewayFault if the gateway has ended. */
  readPeakRssBytes(): number;
  countThreads(): number;
  /** Sockets too. */
  countOpenFiles(): number;
  stop(): Promise<void>;
}

/** The gateway under test has ended, or its event loop is blocked: a fault of the gateway, not of the check. */
export class GatewayFault extends Error {}

export interface TestedGatewayOptions {
  readonly kind: "tributary" | "apollo";
  readonly supergraphSdl: string;
  /** For the supergraph, which the gateway watches, and for the measurements. */
  readonly folder: string;
  /** Variables in addition to the settings of production. */
  readonly environment: Readonly<Record<string, string>>;
}

interface LogRecord {
  readonly msg?: string;
  readonly url?: string;
  readonly observation?: string;
}

/** Node's arguments by kind. Tributary's gateway gets the same arguments as in its image. */
const nodeArguments = {
  tributary: readNodeArguments("gateway"),
  apollo: [fileURLToPath(new URL("../../../../gateway/test/helpers/stock-server.ts", import.meta.url))],
};
/** The limit in docker-compose.yml is 1 GiB, 1,074 MB. */
export const rssMbMax = 1_024;
const production = {
  // V8's heap limit, in megabytes.
  NODE_OPTIONS: "--max-old-space-size=512",
  PROFILE: "production",
  ...endpointKeys,
  INTROSPECTION: "true",
  RATE_LIMIT_READS_PER_MINUTE: "0",
  TRUSTED_PROXIES: "none",
};
const readyTimeoutMs = 60_000;
const loadTimeoutMs = 30_000;
const pollMs = 10;

/** @throws Error if it serves no supergraph within a minute: then the check itself cannot run, which is no GatewayFault. */
export async function startTestedGateway(options: TestedGatewayOptions): Promise<TestedGateway> {
  const { kind, supergraphSdl, folder, environment } = options;
  const supergraphFile = join(folder, "supergraph.graphql");
  replaceFile(supergraphFile, supergraphSdl);
  const program = {
    args: ["--expose-gc", ...nodeArguments[kind]],
    environment: { ...production, HOST: "127.0.0.1", PORT: "0", SUPERGRAPH_FILE: supergraphFile, ...environment },
  };
  const launched = launch({ ...addPreload("loop-pauses", folder, program), core: 0 });
  const { pid, child } = launched;
  let loads = 0;
  let url: string | undefined;
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) return;
      const record = JSON.parse(line) as LogRecord;
      if (record.msg === "listening") url = record.url;
      if (record.observation === "supergraph-loaded") loads++;
    });
  }
  const requireRunning = () => {
    if (!launched.isRunning()) throw new GatewayFault(`The gateway has ended: ${launched.recentOutput()}`);
  };

  async function waitUntil(withinMs: number, isTrue: () => boolean): Promise<void> {
    const holds = () => {
      requireRunning();
      return isTrue();
    };
    if (!(await pollUntil(holds, { everyMs: pollMs, withinMs })))
      throw new Error(`The gateway does not load a supergraph: ${launched.recentOutput()}`);
  }

  try {
    await waitUntil(readyTimeoutMs, () => url !== undefined && loads > 0);
  } catch (error) {
    await launched.end("SIGKILL");
    throw new Error(`The gateway does not start: ${String(error)}`, { cause: error });
  }
  return {
    url: url ?? "",
    async publish(newSupergraphSdl) {
      const loadsBefore = loads;
      replaceFile(supergraphFile, newSupergraphSdl);
      await waitUntil(loadTimeoutMs, () => loads > loadsBefore);
    },
    async measureLoop() {
      requireRunning();
      const report = collectReport(folder, pid);
      return (await report.catch((error) => Promise.reject(new GatewayFault(String(error))))) as LoopPauses;
    },
    readRssBytes() {
      requireRunning();
      return readProcess(pid).rssBytes;
    },
    readPeakRssBytes() {
      requireRunning();
      const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
      return Number(kibibytes) * 1_024;
    },
    countThreads: () => readdirSync(`/proc/${pid}/task`).length,
    countOpenFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    stop: () => launched.stop(),
  };
}

/** RSS in bytes, once per interval. @throws GatewayFault if the gateway has ended. */
export async function sampleRss(gateway: TestedGateway, count: number, everyMs: number): Promise<readonly number[]> {
  const samples: number[] = [];
  while (samples.length < count) {
    await sleep(everyMs);
    samples.push(gateway.readRssBytes());
  }
  return samples;
}
