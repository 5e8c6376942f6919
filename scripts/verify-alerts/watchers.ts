import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import type { Programs } from "./programs.ts";
import { docsFolder, writeAlertmanagerSettings, writePrometheusSettings } from "./settings.ts";

/** An alert as Alertmanager shows it: one that is kept silent stands here and is told nobody. */
interface ShownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: "active" | "suppressed" | "unprocessed" };
}

/** Labels and points in time of each series that a query found. */
interface FoundSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

export interface Watchers {
  /** What Alertmanager has now. */
  shown(): Promise<readonly ShownAlert[]>;
  /** Names of the alerts that Prometheus says fire now. */
  firing(): Promise<readonly string[]>;
  /** Over a stretch of time, in seconds since 1970. @throws Error with Prometheus' words when it is no query. */
  query(expr: string, fromSeconds: number, toSeconds: number): Promise<readonly FoundSeries[]>;
  /** How many of the targets answer. */
  targetsUp(): Promise<number>;
}

export interface WatchersOptions {
  readonly programs: Programs;
  readonly folder: string;
  readonly logs: string | undefined;
  /** Addresses of each unit's metrics, without http://. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  /** Where the receiver of that name is told. */
  readonly receiverUrl: (receiver: string) => string;
  /** By which the times of Prometheus are divided. Default: `shorteningFactor`. */
  readonly factor?: number | undefined;
  readonly ends: (() => unknown)[];
}

const startTimeoutMs = 30_000;
const pollMs = 100;

/** Prometheus and Alertmanager with our own files, put to local addresses and made shorter. */
export async function startWatchers(o: WatchersOptions) {
  const { programs, folder, logs, targets, receiverUrl, factor, ends } = o;
  const [port, alertPort] = [await pickFreePort(), await pickFreePort()];
  const [url, alertUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${alertPort}`];
  const run = (name: string, program: string, args: readonly string[], environment: Record<string, string>) => {
    const child = spawn(program, args, { env: environment, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    ends.push(() => end(child));
    keepOutput(child, logs === undefined ? undefined : join(logs, `${name}.log`));
  };
  const alertSettings = writeAlertmanagerSettings(folder, receiverUrl);
  const alertStorage = `--storage.path=${join(folder, "alertmanager-data")}`;
  const alertArgs = [`--config.file=${alertSettings}`, alertStorage, "--cluster.listen-address="];
  run("alertmanager", programs.alertmanager, [...alertArgs, `--web.listen-address=127.0.0.1:${alertPort}`], {});
  const { file, flags } = writePrometheusSettings(folder, { targets, alertmanager: `127.0.0.1:${alertPort}`, factor });
  const places = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "prometheus-data")}`];
  const shows = [`--web.user-assets=${docsFolder}`, `--web.listen-address=127.0.0.1:${port}`];
  const runbooks = { RUNBOOKS_URL: `${url}/user/runbooks` };
  run("prometheus", programs.prometheus, [...flags, ...places, ...shows], runbooks);
  await Promise.all([waitUntilReady(`${alertUrl}/-/ready`), waitUntilReady(`${url}/-/ready`)]);
  return createWatchers(url, alertUrl);
}

function createWatchers(url: string, alertUrl: string): Watchers {
  async function ask<Data>(path: string): Promise<Data> {
    const response = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: Data; error?: string };
    if (status !== "success") throw new Error(`${path}: ${error}`);
    return data;
  }
  return {
    shown: async () => (await (await fetch(`${alertUrl}/api/v2/alerts`)).json()) as readonly ShownAlert[],
    async firing() {
      const { alerts } = await ask<{ alerts: { state: string; labels: Record<string, string> }[] }>("alerts");
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels["alertname"] ?? "");
    },
    async query(query, start, end) {
      const stepSeconds = Math.max(1, Math.ceil((end - start) / 10_000));
      const asked = new URLSearchParams({ query, start: String(start), end: String(end), step: String(stepSeconds) });
      return (await ask<{ result: readonly FoundSeries[] }>(`query_range?${asked.toString()}`)).result;
    },
    async targetsUp() {
      const { activeTargets } = await ask<{ activeTargets: { health: string }[] }>("targets?state=active");
      return activeTargets.filter(({ health }) => health === "up").length;
    },
  };
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(pollMs);
  }
  throw new Error(`${url} does not answer in ${startTimeoutMs} ms: --logs FOLDER keeps what its program says.`);
}

function keepOutput(child: ChildProcess, file: string | undefined): void {
  child.on("error", () => {});
  if (file === undefined) {
    child.stdout?.resume();
    child.stderr?.resume();
    return;
  }
  mkdirSync(join(file, ".."), { recursive: true });
  const written = createWriteStream(file);
  child.stdout?.pipe(written, { end: false });
  child.stderr?.pipe(written, { end: false });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
