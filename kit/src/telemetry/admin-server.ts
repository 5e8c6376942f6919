import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { startHeartbeat } from "../process/heartbeat.ts";
import { type Readiness, urlOf } from "../process/lifecycle.ts";
import { toListenError } from "../process/listen.ts";
import type { Log } from "../process/log.ts";
import type { ProcessStatus } from "../process/process-status.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import type { AdminResult, AdminSubject, AdminThreadData, AdminThreadMessage } from "./admin-messages.ts";
import type { Metrics } from "./metrics/metrics.ts";

export interface AdminServer {
  readonly url: string;
  /** Usually `readiness` of the server for clients. Until this call `/health/ready` is 503. */
  reportReadiness(read: () => Promise<Readiness>): void;
  /** The process's effective settings, without secrets, as JSON at `/config`. Until this call that is 404. */
  reportConfig(read: () => object): void;
  /** The state of the process as JSON at `/status`. Until this call that is 404. */
  reportStatus(read: (() => Promise<ProcessStatus>) | undefined): void;
  close(): Promise<void>;
}

export interface AdminServerOptions {
  readonly host: string;
  readonly port: number;
  readonly log: Pick<Log, "error">;
  /** In Prometheus' text format. Called for each scrape, in the main thread. */
  write(): Promise<string>;
  /** `/health/live` is 503 if the main thread's event loop has been blocked for longer. Default 5 s. */
  readonly staleAfterMs?: number;
  /** Then `/health/ready` is 503. Default 1 s. */
  readonly readinessDeadlineMs?: number;
  /** Default 5 s, the timeout of a scrape. */
  readonly metricsDeadlineMs?: number;
  readonly file?: URL;
}

/** Node's HTTP server, connections and the metrics' text of a few scrapes. */
const oldHeapMbMax = 32;
const youngHeapMbMax = 4;
const restartDelayMs = 1_000;
const workerFile = new URL("./admin-worker.ts", import.meta.url);

/**
 * For operators and probes, without authentication: never publish it. In a thread, so that it responds while the main thread is busy or
 * blocked: liveness by the age of its heartbeat, the rest by a message. A thread that ends is replaced after a second.
 * @throws ConfigError that names ADMIN_PORT, if the port is in use.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { host, log } = options;
  const heartbeat = startHeartbeat();
  let readReadiness = (): Promise<Readiness> => Promise.resolve({ status: "not ready" });
  const pages: Partial<Record<"config" | "status", (() => object | Promise<object>) | undefined>> = {};
  let isClosing = false;

  async function readResult(subject: AdminSubject): Promise<AdminResult> {
    if (subject === "metrics") return { subject, status: 200, body: await options.write() };
    if (subject === "config" || subject === "status") return readPage(subject, pages[subject]);
    const readiness = await readReadiness();
    return { subject, status: readiness.status === "ready" ? 200 : 503, body: JSON.stringify(readiness) };
  }

  function sendResult(worker: Worker, subject: AdminSubject): void {
    void readResult(subject)
      .catch((): AdminResult => ({ subject, status: 500, body: "" }))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      .then((result) => worker.postMessage(result));
  }

  async function startThread(port: number) {
    const worker = new Worker(options.file ?? workerFile, {
      workerData: toThreadData(options, port, heartbeat.memory),
      resourceLimits: { maxOldGenerationSizeMb: oldHeapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
      env: compileCacheEnvironment(),
      // Without the modules of `--import`, which may need the environment of the process.
      execArgv: [],
      name: "admin",
    });
    // Rejects with the error of a thread that cannot listen.
    const [listening] = (await once(worker, "message")) as [{ readonly port: number }];
    worker.unref();
    worker.on("message", (message: AdminThreadMessage) => {
      if (message.kind === "request") sendResult(worker, message.subject);
    });
    worker.on("error", (error) => log.error({ err: error }, "admin thread failed"));
    worker.on("exit", () => {
      if (!isClosing) void replaceThread(listening.port);
    });
    return { worker, port: listening.port };
  }

  /** @param port of the ended thread, also if the system chose it. */
  async function replaceThread(port: number): Promise<void> {
    log.error({ restartDelayMs }, "admin thread ended: restarting");
    await sleep(restartDelayMs, undefined, { ref: false });
    if (isClosing) return;
    try {
      thread = await startThread(port);
      if (isClosing) await thread.worker.terminate();
    } catch (error) {
      log.error({ err: error }, "admin thread could not be restarted");
      void replaceThread(port);
    }
  }

  let thread = await startThread(options.port).catch((error: NodeJS.ErrnoException) => {
    heartbeat.stop();
    throw toListenError(error, { name: "metrics", host, port: options.port, portVariable: "ADMIN_PORT" });
  });
  return {
    url: urlOf(host, thread.port),
    reportReadiness(read) {
      readReadiness = read;
    },
    reportConfig(read) {
      pages.config = read;
    },
    reportStatus(read) {
      pages.status = read;
    },
    async close() {
      isClosing = true;
      heartbeat.stop();
      await thread.worker.terminate();
    },
  };
}

async function readPage(
  subject: AdminSubject,
  read: (() => object | Promise<object>) | undefined,
): Promise<AdminResult> {
  if (!read) return { subject, status: 404, body: "" };
  return { subject, status: 200, body: JSON.stringify(await read(), null, 2) };
}

function toThreadData(
  { host, staleAfterMs = 5_000, readinessDeadlineMs = 1_000, metricsDeadlineMs = 5_000 }: AdminServerOptions,
  port: number,
  heartbeat: SharedArrayBuffer,
): AdminThreadData {
  const otherMs = metricsDeadlineMs;
  const deadlinesMs = { readiness: readinessDeadlineMs, metrics: otherMs, config: otherMs, status: otherMs };
  return { host, port, heartbeat, staleAfterMs, deadlinesMs };
}

/** A thread does not inherit Node's compile cache, without which stripping the types of its files takes 40 ms and 15 MB. */
function compileCacheEnvironment(): { readonly NODE_COMPILE_CACHE?: string } {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** Call it after all label values are announced: logs the metrics for which they are too many. @returns undefined without a port. */
export async function startMetricsListener(
  { adminPort, adminHost }: Pick<TelemetryConfig, "adminPort" | "adminHost">,
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics<never>, "write" | "listMissingZeros"> },
): Promise<AdminServer | undefined> {
  if (adminPort === undefined) return undefined;
  const admin = await startAdminServer({ host: adminHost, port: adminPort, log, write: () => metrics.write() });
  log.info({ url: `${admin.url}/metrics` }, "metrics listening");
  for (const missing of metrics.listMissingZeros())
    log.warn(missing, "label sets of a metric have no zero: rates miss the first event of each");
  return admin;
}
