import type { IncomingMessage, ServerResponse } from "node:http";
import { type RunningServer, startServer } from "../process/lifecycle.ts";
import { type Log, silentLog } from "../process/log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";

export interface AdminServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** The metrics in Prometheus' text format. */
  write(): Promise<string>;
  isReady(): boolean | Promise<boolean>;
}

/**
 * A listener of its own for those who run the process: `GET /metrics`, and the health that the door shows as well. Nothing here asks who
 * calls, so it is never published.
 */
export function startAdminServer({ host, port, write, isReady }: AdminServerOptions): Promise<RunningServer> {
  return startServer({
    name: "metrics",
    portVariable: "ADMIN_PORT",
    handler: (request, response) => void answer(request, response, write),
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
 * Starts that listener if the configuration has a port for it. Called once, after the process has announced its label values: logs the
 * metrics that have too many of these for a zero each.
 */
export async function showMetrics(
  { adminPort, adminHost }: Pick<TelemetryConfig, "adminPort" | "adminHost">,
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics<never>, "write" | "listMissingZeros"> },
  isReady: AdminServerOptions["isReady"],
): Promise<RunningServer | undefined> {
  if (adminPort === undefined) return undefined;
  const admin = await startAdminServer({ host: adminHost, port: adminPort, write: () => metrics.write(), isReady });
  log.info({ url: `${admin.url}/metrics` }, "showing metrics");
  for (const missing of metrics.listMissingZeros())
    log.warn(missing, "label sets of a metric have no zero: rates miss the first event of each");
  return admin;
}

async function answer(request: IncomingMessage, response: ServerResponse, write: () => Promise<string>): Promise<void> {
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
    // A gauge that cannot be read is a bug, and costs the scrape: Prometheus shows the process as down.
    response.writeHead(500).end();
  }
}
