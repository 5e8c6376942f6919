import type { IncomingMessage, ServerResponse } from "node:http";
import { type RunningServer, startServer } from "../process/lifecycle.ts";
import { type Log, silentLog } from "../process/log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";

export interface AdminServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Returns the metrics in Prometheus' text format. Called for each scrape. */
  write(): Promise<string>;
  isReady(): boolean | Promise<boolean>;
}

/** A separate listener for operators: `GET /metrics` and the health endpoints. It has no authentication, so it must never be published. */
export function startAdminServer({ host, port, write, isReady }: AdminServerOptions): Promise<RunningServer> {
  return startServer({
    name: "metrics",
    portVariable: "ADMIN_PORT",
    handler: (request, response) => void serveMetrics(request, response, write),
    host,
    port,
    log: silentLog,
    isReady,
    close: () => Promise.resolve(),
    drainDelayMs: 0,
    shutdownGraceMs: 1_000,
  });
}

/**
 * Starts the admin listener if its port is configured. Call it after the process has announced its label values (`Metrics.announce`): it logs the
 * metrics for which these are too many, so that some have no zero.
 * @returns undefined if the port is not configured.
 */
export async function startMetricsListener(
  { adminPort, adminHost }: Pick<TelemetryConfig, "adminPort" | "adminHost">,
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics<never>, "write" | "listMissingZeros"> },
  isReady: AdminServerOptions["isReady"],
): Promise<RunningServer | undefined> {
  if (adminPort === undefined) return undefined;
  const admin = await startAdminServer({ host: adminHost, port: adminPort, write: () => metrics.write(), isReady });
  log.info({ url: `${admin.url}/metrics` }, "metrics listening");
  for (const missing of metrics.listMissingZeros())
    log.warn(missing, "label sets of a metric have no zero: rates miss the first event of each");
  return admin;
}

async function serveMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  write: () => Promise<string>,
): Promise<void> {
  if (request.url?.split("?", 1)[0] !== "/metrics") return void response.writeHead(404).end();
  if (request.method !== "GET" && request.method !== "HEAD") {
    return void response.writeHead(405, { Allow: "GET, HEAD" }).end();
  }
  try {
    const text = await write();
    response.writeHead(200, {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
      "Cache-Control": "no-store",
    });
    response.end(request.method === "HEAD" ? undefined : text);
  } catch {
    // A gauge that cannot be read is a bug. The scrape fails, and Prometheus reports the process as down.
    response.writeHead(500).end();
  }
}
