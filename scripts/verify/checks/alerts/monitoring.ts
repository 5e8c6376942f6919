// Starts Prometheus and Alertmanager, and reads alerts and query results from them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import type { VerificationRun } from "../../verification.ts";
import type { MonitoringPrograms } from "./monitoring-programs.ts";
import { docsFolder, writeAlertmanagerSettings, writePrometheusSettings } from "./monitoring-settings.ts";

/** An alert in Alertmanager's API, which also contains suppressed (inhibited) alerts. */
interface AlertmanagerAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: "active" | "suppressed" | "unprocessed" };
}

interface PrometheusAlerts {
  readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[];
}

interface PrometheusTargets {
  readonly activeTargets: readonly { readonly health: string }[];
}

/** Labels and samples of one series in a query's result. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

/** The running Prometheus and Alertmanager. */
export interface Monitoring {
  /** The alerts that Alertmanager has now. */
  alerts(): Promise<readonly AlertmanagerAlert[]>;
  /** Names of the alerts that fire now, by Prometheus. */
  firing(): Promise<readonly string[]>;
  /** Runs a range query; times are in seconds since 1970. @throws Error with Prometheus' message for an invalid query. */
  query(expr: string, fromSeconds: number, toSeconds: number): Promise<readonly Series[]>;
  /** The number of targets that Prometheus can scrape. */
  targetsUp(): Promise<number>;
}

export interface MonitoringOptions {
  readonly run: Pick<VerificationRun, "onCleanup">;
  readonly programs: MonitoringPrograms;
  /** For settings and data. */
  readonly folder: string;
  /** An existing folder for the output of each program. */
  readonly logs: string | undefined;
  /** Hosts and ports of each part's metrics. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  /** The webhook URL of a receiver. */
  readonly receiverUrl: (receiver: string) => string;
  /** Prometheus' intervals are divided by it. */
  readonly factor: number;
}

const startTimeoutMs = 30_000;
const pollMs = 100;
/** Prometheus rejects a range query with more than 11,000 points per series. */
const queryPointsMax = 10_000;

/** Starts Prometheus and Alertmanager with the repository's files, with local addresses and shortened intervals. */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const { programs, folder, targets, receiverUrl, factor } = options;
  const prometheusAddress = `127.0.0.1:${await pickFreePort()}`;
  const alertmanagerAddress = `127.0.0.1:${await pickFreePort()}`;
  const prometheusUrl = `http://${prometheusAddress}`;
  const alertmanagerUrl = `http://${alertmanagerAddress}`;
  startProgram("alertmanager", options, {
    program: programs.alertmanager,
    args: [
      `--config.file=${writeAlertmanagerSettings(folder, receiverUrl)}`,
      `--storage.path=${join(folder, "alertmanager-data")}`,
      "--cluster.listen-address=",
      `--web.listen-address=${alertmanagerAddress}`,
    ],
  });
  const { file, flags } = writePrometheusSettings(folder, { targets, alertmanager: alertmanagerAddress, factor });
  startProgram("prometheus", options, {
    program: programs.prometheus,
    args: [
      ...flags,
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, "prometheus-data")}`,
      `--web.user-assets=${docsFolder}`,
      `--web.listen-address=${prometheusAddress}`,
    ],
    // Prometheus serves docs/ at /user, so that fault-run.ts can fetch the runbook of each alert.
    environment: { RUNBOOKS_URL: `${prometheusUrl}/user/runbooks` },
  });
  await Promise.all([waitUntilReady(`${alertmanagerUrl}/-/ready`), waitUntilReady(`${prometheusUrl}/-/ready`)]);
  return createMonitoring(prometheusUrl, alertmanagerUrl);
}

interface ProgramCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

function startProgram(
  name: string,
  { run, folder, logs }: MonitoringOptions,
  { program, args, environment = {} }: ProgramCommand,
): void {
  const output = logs === undefined ? "ignore" : openSync(join(logs, `${name}.log`), "a");
  const child = spawn(program, args, { env: environment, cwd: folder, stdio: ["ignore", output, output] });
  if (output !== "ignore") closeSync(output);
  child.on("error", () => {}); // `waitUntilReady` reports a program that does not start.
  run.onCleanup(() => endProgram(child));
}

function createMonitoring(prometheusUrl: string, alertmanagerUrl: string): Monitoring {
  async function getFromPrometheus<Data>(path: string): Promise<Data> {
    const response = await fetch(`${prometheusUrl}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: Data; error?: string };
    if (status !== "success") throw new Error(`${path}: ${error}`);
    return data;
  }
  return {
    async alerts() {
      const response = await fetch(`${alertmanagerUrl}/api/v2/alerts`);
      return (await response.json()) as readonly AlertmanagerAlert[];
    },
    async firing() {
      const { alerts } = await getFromPrometheus<PrometheusAlerts>("alerts");
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels["alertname"] ?? "");
    },
    async query(expr, fromSeconds, toSeconds) {
      const stepSeconds = Math.max(1, Math.ceil((toSeconds - fromSeconds) / queryPointsMax));
      const parameters = new URLSearchParams({
        query: expr,
        start: String(fromSeconds),
        end: String(toSeconds),
        step: String(stepSeconds),
      });
      const path = `query_range?${parameters.toString()}`;
      const { result } = await getFromPrometheus<{ result: readonly Series[] }>(path);
      return result;
    },
    async targetsUp() {
      const { activeTargets } = await getFromPrometheus<PrometheusTargets>("targets?state=active");
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
  throw new Error(
    `${url} is not ready within ${startTimeoutMs} ms. --logs FOLDER writes the program's output to a file.`,
  );
}

async function endProgram(child: ChildProcess): Promise<void> {
  const isStarted = child.pid !== undefined;
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  if (!isStarted || hasEnded) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
