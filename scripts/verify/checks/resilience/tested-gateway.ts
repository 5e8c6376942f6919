// Starts the gateway under test in a monitored process. With `--control` an unmodified Apollo Gateway is tested instead.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readNodeArguments } from "../../../../bench/contenders/image-arguments.ts";
import type { GatewayReport } from "./monitor.ts";

export interface TestedGateway {
  /** Base URL. */
  readonly url: string;
  /** Replaces the supergraph. Resolves when it is loaded. */
  publish(supergraphSdl: string): Promise<void>;
  /** How many log records contain this observation. */
  countLogged(observation: string): number;
  /** Pauses of the event loop since the last call, and the heap. @throws GatewayFault if the gateway has ended or does not respond in time. */
  measureLoop(): Promise<GatewayReport>;
  /** @throws GatewayFault if the gateway has ended. */
  readRssBytes(): number;
  countThreads(): number;
  /** The number of open sockets of any kind. */
  countSockets(): number;
  stop(): Promise<void>;
}

/** The gateway under test has ended, or its event loop is blocked: a fault of the gateway, not of the check. */
export class GatewayFault extends Error {}

export interface TestedGatewayOptions {
  readonly kind: "tributary" | "apollo";
  readonly supergraphSdl: string;
  /** The path of the file in which the gateway gets the supergraph. The gateway watches it. */
  readonly supergraphFile: string;
  /** Environment variables beside PATH, HOST, PORT and SUPERGRAPH_FILE. The process inherits no others. */
  readonly environment: Readonly<Record<string, string>>;
  /** A command that runs the rest of its arguments, such as `taskset -c 0`. Empty for none. */
  readonly commandPrefix: readonly string[];
}

/** Node's arguments by kind. Tributary's gateway gets the same arguments as in its image. */
const nodeArguments = {
  tributary: readNodeArguments("gateway"),
  apollo: [fileURLToPath(new URL("../../../../gateway/test/helpers/stock-server.ts", import.meta.url))],
};
const readyTimeoutMs = 60_000;
const loadTimeoutMs = 30_000;
const monitorTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;
const pollMs = 10;
const outputCharsMax = 4_000;
const loaded = "supergraph-loaded";

/** @throws Error if it serves no supergraph within a minute: then the check itself cannot run, which is no GatewayFault. */
export async function startTestedGateway(options: TestedGatewayOptions): Promise<TestedGateway> {
  const { kind, supergraphSdl, supergraphFile, environment, commandPrefix } = options;
  replaceFile(supergraphFile, supergraphSdl);
  const monitorArguments = ["--expose-gc", "--import", new URL("monitor.ts", import.meta.url).href];
  const commandLine = [...commandPrefix, process.execPath, ...monitorArguments, ...nodeArguments[kind]];
  const [command = process.execPath, ...args] = commandLine;
  const required = { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PORT: "0", SUPERGRAPH_FILE: supergraphFile };
  const env = { ...required, ...environment };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const pid = child.pid ?? 0;
  const log = readLog(child);

  async function waitUntil(timeoutMs: number, isTrue: () => boolean): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!isTrue()) {
      if (hasEnded(child)) throw new GatewayFault(`The gateway has ended: ${log.output}`);
      if (performance.now() > deadline) throw new Error(`The gateway does not load a supergraph: ${log.output}`);
      await sleep(pollMs);
    }
  }

  try {
    await waitUntil(readyTimeoutMs, () => log.url !== undefined && log.count(loaded) > 0);
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`The gateway does not start: ${String(error)}`, { cause: error });
  }
  return {
    url: log.url ?? "",
    async publish(newSupergraphSdl) {
      const loadsBefore = log.count(loaded);
      replaceFile(supergraphFile, newSupergraphSdl);
      await waitUntil(loadTimeoutMs, () => log.count(loaded) > loadsBefore);
    },
    countLogged: (observation) => log.count(observation),
    async measureLoop() {
      if (hasEnded(child)) throw new GatewayFault(`The gateway has ended: ${log.output}`);
      const nextMessage = once(child, "message") as Promise<[GatewayReport]>;
      child.send("report");
      const [report] = await withTimeout(monitorTimeoutMs, nextMessage, new GatewayFault("The event loop is blocked"));
      return report;
    },
    readRssBytes: () => readRssBytes(pid),
    countThreads: () => readdirSync(`/proc/${pid}/task`).length,
    countSockets: () => countSockets(pid),
    stop: () => stop(child),
  };
}

/** Replaces the file atomically by rename, so that the gateway never reads a part of it. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Counts the observations in the log, one JSON text in each line. */
function readLog(child: ChildProcess) {
  const counts = new Map<string, number>();
  let url: string | undefined;
  let output = "";
  const append = (text: string) => {
    output = (output + text).slice(-outputCharsMax);
  };
  const onLine = (line: string) => {
    append(`${line}\n`);
    if (!line.startsWith("{")) return;
    const record = JSON.parse(line) as { readonly msg?: string; readonly url?: string; readonly observation?: string };
    if (record.msg === "listening") url = record.url;
    const { observation } = record;
    if (observation !== undefined) counts.set(observation, (counts.get(observation) ?? 0) + 1);
  };
  child.stderr?.setEncoding("utf8").on("data", append);
  if (child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  return {
    /** Undefined until the gateway listens. */
    get url() {
      return url;
    },
    /** The end of the output. */
    get output() {
      return output;
    },
    count: (observation: string) => counts.get(observation) ?? 0,
  };
}

/** Reads proc_pid_status(5). */
function readRssBytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) throw new GatewayFault("The gateway has ended");
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(file, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** proc_pid_fd(5): the link of a socket begins with "socket:". A descriptor that is closed meanwhile is not counted. */
function countSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await withTimeout(stopTimeoutMs, ended, new Error("SIGTERM has no effect")).catch(() => child.kill("SIGKILL"));
  await ended;
}

/** The result of `work`. @throws `error` after `timeoutMs`; `work` is not aborted. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, error: Error): Promise<T> {
  const timer = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: timer.signal }).then(() => Promise.reject(error));
  timeout.catch(() => {});
  return Promise.race([work, timeout]).finally(() => timer.abort());
}
