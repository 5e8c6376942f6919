import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Account } from "./account.ts";
import { bareEnvironment } from "./data-folder.ts";

const pollMs = 15;
/** Recovery after a crash replays the log since the last checkpoint. */
const readyTimeoutMs = 60_000;
const connectTimeoutMs = 2_000;
const lastLinesMax = 20;
const invalidPasswordCode = "28P01";

export interface PostgresServerOptions {
  readonly postgres: string;
  readonly folder: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly account: Account | undefined;
  log(line: string): void;
}

export interface PostgresServer {
  readonly child: ChildProcess;
  /** For an error message. The list changes as the server logs. */
  readonly lastLines: readonly string[];
}

/** In a separate process group, so that Ctrl-C in a terminal does not stop it before its clients. */
export function spawnServer(options: PostgresServerOptions): PostgresServer {
  const child = spawn(options.postgres, ["-D", options.folder, ...settingArguments(options)], {
    uid: options.account?.uid,
    gid: options.account?.gid,
    cwd: "/",
    env: bareEnvironment,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lastLines: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    lastLines.push(line);
    if (lastLines.length > lastLinesMax) lastLines.shift();
    options.log(line);
  });
  return { child, lastLines };
}

/** @throws Error if the server ends before, needs more than 60 s, or rejects the password. */
export async function waitUntilReady(server: PostgresServer, url: string): Promise<void> {
  const { child, lastLines } = server;
  let hasEnded = child.exitCode !== null;
  const setEnded = () => {
    hasEnded = true;
  };
  child.once("exit", setEnded);
  child.once("error", setEnded);
  const deadline = performance.now() + readyTimeoutMs;
  while (performance.now() < deadline) {
    if (hasEnded) throw new Error(`PostgreSQL ended before it was ready:\n${lastLines.join("\n")}`);
    if (await isResponsive(url)) return;
    await sleep(pollMs);
  }
  throw new Error(`PostgreSQL was not ready after ${readyTimeoutMs} ms:\n${lastLines.join("\n")}`);
}

/** Revokes access to the two default databases, which every role could open otherwise. */
async function isResponsive(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  // An unhandled `error` event would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("revoke all on database postgres, template1 from public");
    return true;
  } catch (error) {
    if (isWrongPassword(error)) throw error;
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === invalidPasswordCode;
}

function settingArguments({ port, settings }: PostgresServerOptions): string[] {
  const allSettings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "", // The path of a socket is at most 107 bytes long; a project's folder may be deeper.
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    log_line_prefix: "",
    ...settings,
  };
  return Object.entries(allSettings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
