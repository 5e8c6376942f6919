import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { readStartCommand } from "../../bench/contenders/start-command.ts";
import type { LoopReport, MemoryReport, Question } from "./monitor.ts";

export interface GatewayProcess {
  readonly pid: number;
  /** Base address. */
  readonly url: string;
  /** How many supergraphs it has taken up. */
  readonly loadedCount: number;
  /** Resolves when so many supergraphs have been taken up. */
  loaded(count: number): Promise<void>;
  /** How often it logged an observation of this kind. */
  logged(observation: string): number;
  /** Since it was asked last. */
  askLoop(): Promise<LoopReport>;
  /** After a full collection. */
  askMemory(): Promise<MemoryReport>;
  readRssBytes(): number;
  countThreads(): number;
  /** Open ones of any kind. */
  countSockets(): number;
  stop(): Promise<void>;
}

export interface GatewayStart {
  readonly kind: "ours" | "stock";
  readonly environment: Readonly<Record<string, string>>;
  /** Put before the command. */
  readonly prefix: readonly string[];
}

/** Node's arguments. Ours is started as its image starts it. */
const commands = {
  ours: readStartCommand("gateway"),
  stock: [fileURLToPath(new URL("../../gateway/test/helpers/stock-server.ts", import.meta.url))],
};
const readyTimeoutMs = 60_000;
const answerTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;
const keptCharsMax = 4_000;

/** A gateway's own process with our monitor in it. Throws when it serves no supergraph within a minute. */
export async function startGatewayProcess({ kind, environment, prefix }: GatewayStart): Promise<GatewayProcess> {
  const monitor = ["--expose-gc", "--import", new URL("monitor.ts", import.meta.url).href];
  const [command = process.execPath, ...args] = [...prefix, process.execPath, ...monitor, ...commands[kind]];
  const env = { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PORT: "0", ...environment };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log = readLog(child);
  const isUp = () => log.url !== undefined && log.count("supergraph-loaded") > 0;
  const url = await within(readyTimeoutMs, log.until(isUp), () => `The gateway does not get ready: ${log.lastWords()}`)
    .then(() => log.url ?? "")
    .catch(async (error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
  return describeProcess(child, log, url);
}

type Log = ReturnType<typeof readLog>;

function describeProcess(child: ChildProcess, log: Log, url: string): GatewayProcess {
  const pid = child.pid ?? 0;
  async function ask<Report>(question: Question): Promise<Report> {
    const answer = once(child, "message") as Promise<[Report]>;
    child.send(question);
    return (await within(answerTimeoutMs, answer, () => "The gateway's loop stands still"))[0];
  }
  return {
    pid,
    url,
    get loadedCount() {
      return log.count("supergraph-loaded");
    },
    loaded: (count) => log.until(() => log.count("supergraph-loaded") >= count),
    logged: log.count,
    askLoop: () => ask<LoopReport>("loop"),
    askMemory: () => ask<MemoryReport>("memory"),
    readRssBytes: () => readRssBytes(pid),
    countThreads: () => readdirSync(`/proc/${pid}/task`).length,
    countSockets: () => countSockets(pid),
    stop: () => stop(child),
  };
}

/** Reads the log line by line, and keeps counts. */
function readLog(child: ChildProcess) {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  let url: string | undefined;
  let said = "";
  let ended: Error | undefined;
  const wake = () => waiting.forEach((check) => check());
  const keep = (text: string) => (said = (said + text).slice(-keptCharsMax));
  child.stderr?.setEncoding("utf8").on("data", keep);
  if (child.stdout)
    createInterface({ input: child.stdout }).on("line", (line) => {
      keep(`${line}\n`);
      const entry = readLine(line);
      if (entry.msg === "listening") url = entry.url;
      if (entry.observation) counts.set(entry.observation, (counts.get(entry.observation) ?? 0) + 1);
      wake();
    });
  child.once("exit", (code, signal) => {
    ended = new Error(`The gateway ended with ${code ?? signal}: ${said}`);
    wake();
  });

  return {
    get url() {
      return url;
    },
    count: (observation: string) => counts.get(observation) ?? 0,
    lastWords: () => said,
    until: (condition: () => boolean) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (!condition() && !ended) return;
          waiting.delete(check);
          if (condition()) resolve();
          else reject(ended ?? new Error());
        };
        waiting.add(check);
        check();
      }),
  };
}

function readLine(line: string): { readonly msg?: string; readonly url?: string; readonly observation?: string } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}

/** proc_pid_status(5): "VmRSS:   123 kB". */
function readRssBytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** proc_pid_fd(5): the link of a socket begins with "socket:". One that is closed meanwhile is none. */
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
  await within(stopTimeoutMs, ended, () => "").catch(() => child.kill("SIGKILL"));
  await ended;
}

export async function within<T>(timeoutMs: number, work: Promise<T>, describe: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(describe())), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
