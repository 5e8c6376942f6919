import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { AdminResult, AdminSubject, AdminThreadData, AdminThreadMessage } from "./admin-messages.ts";
import { hasOneHost } from "../http/host.ts";
import { createServer } from "../process/node-http.ts";
import { readHeartbeatAgeMs } from "../process/heartbeat.ts";

const { host, port, heartbeat, staleAfterMs, deadlinesMs } = workerData as AdminThreadData;

/** Further connections are closed. */
const connectionsMax = 64;
const jsonType = "application/json";

/** At most one per subject; later requests wait for the same result. */
const inFlight = new Map<AdminSubject, PromiseWithResolvers<AdminResult>>();

const server = createServer(
  { connectionsCheckingInterval: 1_000 },
  (request, response) => void respond(request, response),
);
server.maxConnections = connectionsMax;
server.headersTimeout = 10_000;
server.requestTimeout = 30_000;
server.keepAliveTimeout = 65_000;

parentPort?.on("message", (result: AdminResult) => {
  inFlight.get(result.subject)?.resolve(result);
  inFlight.delete(result.subject);
});
// If the port is in use, the thread ends with the server's error, and the main thread gets it.
server.listen({ host, port }, () => post({ kind: "listening", port: (server.address() as AddressInfo).port }));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = ""] = (request.url ?? "").split("?", 1);
  if (path === "/metrics") return respondMetrics(request, response);
  if (path === "/config") return respondPage("config", request, response);
  // Also where the server for clients has it in development.
  if (path === "/status" || path === "/health/status") return respondPage("status", request, response);
  if (!path.startsWith("/health/")) {
    response.writeHead(404).end();
    return;
  }
  if (!hasOneHost(request)) {
    response.setHeader("Connection", "close");
    return writeJson(request, response, 400, { status: "malformed request" });
  }
  if (path === "/health/live") return respondLiveness(request, response);
  if (path !== "/health/ready") return writeJson(request, response, 404, { status: "unknown" });
  const result = await fetchFromMainThread("readiness");
  if (result) return write(request, response, result.status, jsonType, result.body);
  writeJson(request, response, 503, { status: "not ready", reason: lateReason("readiness") });
}

function respondLiveness(request: IncomingMessage, response: ServerResponse): void {
  const ageMs = readHeartbeatAgeMs(heartbeat);
  if (ageMs <= staleAfterMs) return writeJson(request, response, 200, { status: "live" });
  writeJson(request, response, 503, { status: "not live", reason: `The event loop has not run for ${ageMs} ms.` });
}

async function respondMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead) {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  const result = await fetchFromMainThread("metrics");
  if (!result) return write(request, response, 503, "text/plain; charset=utf-8", `${lateReason("metrics")}\n`);
  if (result.status !== 200) {
    // A metric that cannot be read is a bug: Prometheus reports the process as down.
    response.writeHead(result.status).end();
    return;
  }
  write(request, response, 200, "text/plain; version=0.0.4; charset=utf-8", result.body);
}

/** For operators who call it from a browser too: a page of another site could read it with another Host. */
async function respondPage(
  subject: "config" | "status",
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hasOneHost(request)) return writeJson(request, response, 400, { status: "malformed request" });
  const result = await fetchFromMainThread(subject);
  if (!result) return writeJson(request, response, 503, { status: lateReason(subject) });
  if (result.body === "") return writeJson(request, response, result.status, { status: "none" });
  write(request, response, result.status, jsonType, result.body);
}

function fetchFromMainThread(subject: AdminSubject): Promise<AdminResult | undefined> {
  let pending = inFlight.get(subject);
  if (!pending) {
    pending = Promise.withResolvers<AdminResult>();
    inFlight.set(subject, pending);
    post({ kind: "request", subject });
  }
  return Promise.race([pending.promise, sleep(deadlinesMs[subject], undefined)]);
}

function lateReason(subject: AdminSubject): string {
  return `The main thread has not responded within ${deadlinesMs[subject]} ms.`;
}

function writeJson(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  write(request, response, status, jsonType, JSON.stringify(body));
}

function write(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
): void {
  response.writeHead(status, { "Content-Type": contentType, "Cache-Control": "no-store" });
  response.end(method === "HEAD" ? undefined : body);
}

function post(message: AdminThreadMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}
