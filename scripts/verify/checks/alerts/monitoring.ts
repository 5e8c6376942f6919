// Starts Prometheus and Alertmanager with the repository's files, with local addresses and shortened intervals, for alerts.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import type { VerificationRun } from "../../verification.ts";
import type { AlertPlatform } from "./alert-platform.ts";
import type { MonitoringPrograms } from "./monitoring-programs.ts";
import { docsFolder, writeAlertmanagerSettings, writePrometheusSettings } from "./monitoring-settings.ts";

type OnCleanup = VerificationRun["onCleanup"];

/** An alert of which Alertmanager has notified a receiver, as in its last notification. */
export interface Alert {
  readonly status: "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** page or ticket. */
  readonly receiver: string;
}

/** The running Prometheus and Alertmanager. */
export interface Monitoring {
  /** The alerts that fired and were notified since `forgetNotified`. */
  notified(): readonly Alert[];
  forgetNotified(): void;
  /** The labels of the alerts that are inhibited now. */
  suppressed(): Promise<readonly Alert["labels"][]>;
  /** Names of the alerts that fire now, by Prometheus. */
  firing(): Promise<readonly (string | undefined)[]>;
  /** Whether the query returns a number at any time since then. @throws Error with Prometheus' message for an invalid query. */
  hasData(query: string, beginSeconds: number): Promise<boolean>;
}

const startTimeoutMs = 30_000;
/** Prometheus rejects a range query with more than 11,000 points per series. */
const queryPointsMax = 10_000;

export async function startMonitoring(options: {
  readonly programs: MonitoringPrograms;
  readonly platform: AlertPlatform;
  readonly onCleanup: OnCleanup;
}): Promise<Monitoring> {
  const { programs, platform, onCleanup } = options;
  const folder = join(platform.folder, "monitoring");
  mkdirSync(folder);
  const prometheusAddress = `127.0.0.1:${await pickFreePort()}`;
  const alertmanagerAddress = `127.0.0.1:${await pickFreePort()}`;
  const notifications = new Map<string, Alert>();
  const receiverUrl = await startReceiver(notifications, onCleanup);
  await startProgram(programs.alertmanager, `http://${alertmanagerAddress}`, onCleanup, [
    `--config.file=${writeAlertmanagerSettings(folder, receiverUrl)}`,
    `--storage.path=${join(folder, "alertmanager-data")}`,
    "--cluster.listen-address=",
    `--web.listen-address=${alertmanagerAddress}`,
  ]);
  const replicas = Object.entries(platform.replicas);
  const targets = Object.fromEntries(replicas.map(([part, running]) => [part, running.map(({ admin }) => admin)]));
  const { file, flags } = writePrometheusSettings(folder, { targets, alertmanager: alertmanagerAddress });
  const prometheusUrl = `http://${prometheusAddress}`;
  const prometheusArguments = [
    ...flags,
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, "prometheus-data")}`,
    `--web.user-assets=${docsFolder}`,
    `--web.listen-address=${prometheusAddress}`,
  ];
  // Prometheus serves docs/ at /user, where the links of the alerts lead.
  const environment = { RUNBOOKS_URL: `${prometheusUrl}/user/runbooks` };
  await startProgram(programs.prometheus, prometheusUrl, onCleanup, prometheusArguments, environment);

  return {
    notified: () => [...notifications.values()],
    forgetNotified: () => notifications.clear(),
    async suppressed() {
      const response = await fetch(`http://${alertmanagerAddress}/api/v2/alerts`);
      const alerts = (await response.json()) as { labels: Alert["labels"]; status: { state: string } }[];
      return alerts.filter(({ status }) => status.state === "suppressed").map(({ labels }) => labels);
    },
    async firing() {
      const { alerts } = await readPrometheus<{ alerts: { state: string; labels: Alert["labels"] }[] }>(
        `${prometheusUrl}/api/v1/alerts`,
      );
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels["alertname"]);
    },
    async hasData(query, beginSeconds) {
      const endSeconds = Date.now() / 1_000;
      const step = Math.max(1, Math.ceil((endSeconds - beginSeconds) / queryPointsMax));
      const times = { start: String(beginSeconds), end: String(endSeconds), step: String(step) };
      const parameters = new URLSearchParams({ query, ...times }).toString();
      const { result } = await readPrometheus<{ result: { values: [number, string][] }[] }>(
        `${prometheusUrl}/api/v1/query_range?${parameters}`,
      );
      // 0/0 gives NaN, which no panel shows.
      return result.some(({ values }) => values.some(([, value]) => value !== "NaN"));
    },
  };
}

async function readPrometheus<Data>(url: string): Promise<Data> {
  const { status, data, error } = (await (await fetch(url)).json()) as { status: string; data: Data; error?: string };
  if (status !== "success") throw new Error(error);
  return data;
}

interface WebhookMessage {
  readonly receiver: string;
  readonly alerts: readonly (Omit<Alert, "receiver"> & { readonly fingerprint: string })[];
}

/** Starts the server of Alertmanager's webhooks. The end of an alert that fired before `forgetNotified` is no entry. @returns its URL. */
async function startReceiver(notifications: Map<string, Alert>, onCleanup: OnCleanup): Promise<string> {
  const accept = ({ receiver, alerts }: WebhookMessage) => {
    for (const { fingerprint, ...alert } of alerts) {
      const isKnown = notifications.has(fingerprint);
      if (isKnown || alert.status === "firing") notifications.set(fingerprint, { ...alert, receiver });
    }
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      accept(JSON.parse(body) as WebhookMessage);
      return response.end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a program, and waits until it is ready. @param environment the whole environment. */
async function startProgram(
  program: string,
  url: string,
  onCleanup: OnCleanup,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = spawn(program, args, { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  onCleanup(() => {
    child.kill("SIGTERM");
    return ended;
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output = (output + String(chunk)).slice(-4_000);
  });
  const deadline = performance.now() + startTimeoutMs;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (performance.now() > deadline) throw new Error(`${program} is not ready:\n${output}`);
    await sleep(100);
  }
}
