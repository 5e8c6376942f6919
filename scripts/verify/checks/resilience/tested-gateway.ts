// Starts the gateway under test in a monitored process. With `--control` an unmodified Apollo Gateway is tested instead.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { readNodeArguments } from "../../../../bench/contenders/image-arguments.ts";
import type { LoopReport, MemoryReport, MonitorRequest } from "./monitor.ts";

export interface TestedGateway {
  /** Base URL. */
  readonly url: string;
  /** How many supergraphs it has loaded. */
  readonly loadedCount: number;
  /** Replaces the supergraph. Resolves when it is loaded. */
  publish(supergraphSdl: string): Promise<void>;
  /** How many log records contain this observation. */
  countLogged(observation: string): number;
  /** Event loop delays since the last call. @throws GatewayFault if the gateway has ended, or does not respond within 30 s. */
  measureLoop(): Promise<LoopReport>;
  /** Memory use after a full garbage collection. */
  measureMemory(): Promise<MemoryReport>;
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
const outputCharsMax = 4_000;
/** A line of /proc/PID/status, see proc_pid_status(5). */
const rssPattern = /^VmRSS:\s+(\d+) kB/m;

/**
 * Starts a gateway process with the monitor loaded.
 * @throws Error if it serves no supergraph within a minute. A GatewayFault would only count as a claim that does not hold (check.ts), but here the
 * check itself cannot run.
 */
export async function startTestedGateway({
  kind,
  supergraphSdl,
  supergraphFile,
  environment,
  commandPrefix,
}: TestedGatewayOptions): Promise<TestedGateway> {
  replaceFile(supergraphFile, supergraphSdl);
  const monitorArguments = ["--expose-gc", "--import", new URL("monitor.ts", import.meta.url).href];
  const commandLine = [...commandPrefix, process.execPath, ...monitorArguments, ...nodeArguments[kind]];
  const [command = process.execPath, ...args] = commandLine;
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOST: "127.0.0.1",
    PORT: "0",
    SUPERGRAPH_FILE: supergraphFile,
    ...environment,
  };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log = readLog(child);
  const isReady = () => log.url !== undefined && countLoads(log) > 0;
  try {
    await withTimeout(readyTimeoutMs, log.until(isReady), () => `The gateway is not ready: ${log.recentOutput()}`);
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`The gateway does not start: ${String(error)}`, { cause: error });
  }
  return createTestedGateway(child, log, supergraphFile);
}

/** Replaces the file atomically by rename, so that the gateway never reads a part of it. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function countLoads(log: GatewayLog): number {
  return log.count("supergraph-loaded");
}

interface GatewayLog {
  /** Undefined until the gateway listens. */
  readonly url: string | undefined;
  /** How many log records contain this observation. */
  count(observation: string): number;
  /** The end of the output. */
  recentOutput(): string;
  /** Resolves when the condition holds. @throws GatewayFault if the gateway ends before that. */
  until(condition: () => boolean): Promise<void>;
}

function createTestedGateway(child: ChildProcess, log: GatewayLog, supergraphFile: string): TestedGateway {
  const pid = child.pid ?? 0;
  async function requestReport<Report>(request: MonitorRequest): Promise<Report> {
    if (child.exitCode !== null || child.signalCode !== null) throw new GatewayFault("The gateway has ended");
    const nextMessage = once(child, "message") as Promise<[Report]>;
    child.send(request);
    const describe = () => "The gateway's event loop is blocked";
    const [report] = await withTimeout(monitorTimeoutMs, nextMessage, describe, GatewayFault);
    return report;
  }
  return {
    url: log.url ?? "",
    get loadedCount() {
      return countLoads(log);
    },
    async publish(supergraphSdl) {
      const expectedLoads = countLoads(log) + 1;
      replaceFile(supergraphFile, supergraphSdl);
      const loaded = log.until(() => countLoads(log) >= expectedLoads);
      await withTimeout(loadTimeoutMs, loaded, () => `Supergraph ${expectedLoads} is not loaded`);
    },
    countLogged: (observation) => log.count(observation),
    measureLoop: () => requestReport<LoopReport>("loop"),
    measureMemory: () => requestReport<MemoryReport>("memory"),
    readRssBytes: () => readRssBytes(pid),
    countThreads: () => readdirSync(`/proc/${pid}/task`).length,
    countSockets: () => countSockets(pid),
    stop: () => stop(child),
  };
}

/** Reads the log line by line, and counts observations. */
function readLog(child: ChildProcess): GatewayLog {
  const counts = new Map<string, number>();
  /** Called after each line and at the end of the gateway, until their conditions hold. */
  const pendingChecks = new Set<() => void>();
  let url: string | undefined;
  let output = "";
  let fault: GatewayFault | undefined;

  function append(text: string): void {
    output = (output + text).slice(-outputCharsMax);
  }

  function runChecks(): void {
    for (const check of pendingChecks) check();
  }

  function onLine(line: string): void {
    append(`${line}\n`);
    const { msg, url: loggedUrl, observation } = parseLogLine(line);
    if (msg === "listening") url = loggedUrl;
    if (observation) counts.set(observation, (counts.get(observation) ?? 0) + 1);
    runChecks();
  }

  child.stderr?.setEncoding("utf8").on("data", append);
  if (child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  child.once("exit", (code, signal) => {
    fault = new GatewayFault(`The gateway ended with ${code ?? signal}: ${output}`);
    runChecks();
  });

  return {
    get url() {
      return url;
    },
    count: (observation) => counts.get(observation) ?? 0,
    recentOutput: () => output,
    until: (condition) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (condition()) resolve();
          else if (fault) reject(fault);
          else return;
          pendingChecks.delete(check);
        };
        pendingChecks.add(check);
        check();
      }),
  };
}

interface LogLine {
  readonly msg?: string;
  readonly url?: string;
  readonly observation?: string;
}

/** @returns an empty object for a line that is not JSON. */
function parseLogLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return {};
  }
}

function readRssBytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) throw new GatewayFault("The gateway has ended");
  const [, kilobytes = "0"] = rssPattern.exec(readFileSync(file, "utf8")) ?? [];
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
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await withTimeout(stopTimeoutMs, ended, () => "").catch(() => child.kill("SIGKILL"));
  await ended;
}

/** The result of `work`. @throws `ErrorType` with the text of `describe` after `timeoutMs`; `work` is not aborted. */
export async function withTimeout<T>(
  timeoutMs: number,
  work: Promise<T>,
  describe: () => string,
  ErrorType: new (message: string) => Error = Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ErrorType(describe())), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
