// Starts, drains and stops the HTTP server of a process. Called by its `main.ts`, and for a service by `service/service.ts`.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { type OverloadedResponse, overloadedProblem, respondOverloaded } from "../http/overloaded-response.ts";
import type { IncompleteRequests } from "../http/incomplete-requests.ts";
import { ConfigError } from "./env.ts";
import { hasOneHost } from "../http/host.ts";
import { createPendingResponseList, type PendingResponseList } from "./pending-responses.ts";
import type { Log } from "./log.ts";

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /**
   * Makes `/health/ready` respond 503 and serves as usual for `drainDelayMs`. Then closes the listener, waits for the pending responses to requests
   * that are complete, closes the connections and calls `close`. A second call returns the same promise.
   */
  drain(): Promise<void>;
  /** The body of the response to `GET /health/ready`, which the admin listener reports too. Never rejects. */
  readiness(): Promise<Readiness>;
}

/** Ready to receive requests; with further fields, such as the version. */
export type Readiness = Readonly<Record<string, string>> & { readonly status: "ready" | "not ready" };

/** The pending responses of one connection (see pending-responses.ts), in the order of their requests. */
export type PendingResponses = (connection: Duplex) => readonly ServerResponse[];

export interface ServerOptions {
  readonly name: string;
  readonly handler: RequestListener;
  readonly host: string;
  /** The variable that configures the port, for the error message. Default `PORT`. */
  readonly portVariable?: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Log;
  /** Called for each `GET /health/ready`; not while draining. An error counts as not ready. */
  isReady(): boolean | Promise<boolean>;
  /** Further fields of the response to `GET /health/ready`, such as the version. Called for each response. */
  readinessFields?(): Readonly<Record<string, string>>;
  /** Called once, after the last response. */
  close(): Promise<void>;
  /** How long the process continues to accept requests after readiness is 503, so that load balancers notice. */
  readonly drainDelayMs: number;
  /** How long responses to complete requests may take after that; requests that are not complete have at most a second. */
  readonly shutdownGraceMs: number;
  /** Time for a client to send its headers, and its whole request. Defaults 10 s and 30 s. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Node's option: a request without a body has ended when the handler gets it, and never emits `end`. Saves 6 % of a cache hit. */
  readonly optimizeEmptyRequests?: boolean;
  /** Requests in flight at once, without `incompleteRequests`; further ones get `overloadedResponse`. Default: no limit. */
  readonly requestsInFlightMax?: number;
  /** Has limits of its own, so that half-sent requests do not use up `requestsInFlightMax`. Default: these count as the others. */
  readonly incompleteRequests?: Pick<IncompleteRequests, "count">;
  /** Called for each request above `requestsInFlightMax`. */
  readonly onOverloaded?: () => void;
  /** Sent with status 503. Default: a problem document. */
  readonly overloadedResponse?: OverloadedResponse;
  /** Called with the server before it listens, to add listeners such as `clientError`. */
  prepare?(server: Server, pendingResponses: PendingResponses): void;
}

/**
 * Starts an HTTP server. It responds itself to `/health/live` (200 while the process runs), `/health/ready` (200 or 503) and other paths below
 * `/health/` (404), by any method. All other requests go to the handler.
 * @throws ConfigError that names the port, if it is in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, log, drainDelayMs, shutdownGraceMs } = options;
  const { incompleteRequests, requestsInFlightMax = Infinity } = options;
  const overloadedResponse = options.overloadedResponse ?? overloadedProblem;
  const pendingResponses = createPendingResponseList();
  let isDraining = false;

  async function readiness(): Promise<Readiness> {
    const isReady = !isDraining && (await isReadyWithoutError(options));
    return { status: isReady ? "ready" : "not ready", ...options.readinessFields?.() };
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    pendingResponses.add(response);
    if (request.url?.startsWith("/health/")) {
      void respondToHealth(request, response, readiness);
      return;
    }
    if (pendingResponses.count() - (incompleteRequests?.count() ?? 0) > requestsInFlightMax) {
      options.onOverloaded?.();
      respondOverloaded(response, overloadedResponse);
      return;
    }
    options.handler(request, response);
  }

  const optimizeEmptyRequests = options.optimizeEmptyRequests ?? false;
  const server = createServer({ connectionsCheckingInterval: 1_000, optimizeEmptyRequests }, respond);
  server.headersTimeout = options.headersTimeoutMs ?? 10_000;
  server.requestTimeout = options.requestTimeoutMs ?? 30_000;
  server.keepAliveTimeout = 65_000;
  options.prepare?.(server, pendingResponses.ofConnection);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;

  async function drainOnce(): Promise<void> {
    isDraining = true;
    // Closes no connection yet: responses have `Connection: close` from now on.
    pendingResponses.closeConnections();
    log.info({ drainDelayMs, shutdownGraceMs }, "draining");
    await wait(drainDelayMs);
    await closeServer(server, pendingResponses, shutdownGraceMs);
    await options.close();
    log.info("stopped");
  }

  let drained: Promise<void> | undefined;
  function drain(): Promise<void> {
    drained ??= drainOnce();
    return drained;
  }

  return { port, url: urlOf(host, port), drain, readiness };
}

interface Stoppable {
  drain(): Promise<void>;
}

/** SIGTERM and SIGINT drain all servers and exit with 0, or with 1 if that fails. A second signal exits at once with 1. */
export function stopOnSignals(servers: readonly Stoppable[], log: Log): void {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, "stopping");
    const drained = Promise.all(servers.map((server) => server.drain()));
    void drained.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
}

const statusCodeOf = { live: 200, ready: 200, "not ready": 503, unknown: 404, "malformed request": 400 } as const;

async function respondToHealth(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<Readiness>,
): Promise<void> {
  const body = await findHealth(request, readiness);
  response.statusCode = statusCodeOf[body.status];
  response.setHeader("Content-Type", "application/json");
  response.setHeader("Cache-Control", "no-store");
  if (body.status === "malformed request") response.setHeader("Connection", "close");
  response.end(request.method === "HEAD" ? undefined : JSON.stringify(body));
}

async function findHealth(
  request: IncomingMessage,
  readiness: () => Promise<Readiness>,
): Promise<Readiness | { readonly status: "live" | "unknown" | "malformed request" }> {
  const path = request.url?.split("?", 1)[0];
  if (!hasOneHost(request)) return { status: "malformed request" };
  if (path === "/health/live") return { status: "live" };
  return path === "/health/ready" ? readiness() : { status: "unknown" };
}

async function isReadyWithoutError(options: ServerOptions): Promise<boolean> {
  try {
    return await options.isReady();
  } catch {
    return false;
  }
}

function listen(server: Server, options: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(error, options)));
    server.listen({ port: options.port, host: options.host }, resolve);
  });
}

/** A ConfigError that names the port, if it is in use; otherwise the given error. */
export function toListenError(
  error: NodeJS.ErrnoException,
  { name, host, port, portVariable = "PORT" }: Pick<ServerOptions, "name" | "host" | "port" | "portVariable">,
): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new ConfigError([`${name}: port ${port} on ${host} is in use. Free it, or set ${portVariable} to another.`]);
}

/**
 * How long a connection may remain without a complete request once no complete request is pending. A request that is being received needs a
 * few round trips; a client that never completes one must not delay the process for the whole grace period.
 */
const incompleteRequestGraceMs = 1_000;
const idleSweepIntervalMs = 50;

/**
 * Closes the listener, then waits for the pending responses to requests that are complete. Idle connections remain open until then, so that none
 * is closed while its client sends a request; the response to that request has `Connection: close`. Connections with an incomplete request, or
 * without any, are closed a second later. After `graceMs` all connections are closed, also those with a pending response.
 */
async function closeServer(server: Server, pending: PendingResponseList, graceMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  // Not `server.close`, which closes idle connections too.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  await pending.settled();
  const idleSweep = setInterval(() => server.closeIdleConnections(), idleSweepIntervalMs);
  // Closes the connections that are idle now; `idleSweep` closes those that become idle later.
  server.close();
  const closeIncomplete = () => {
    // Requests that have become complete in the meantime get their responses first.
    void pending.settled().then(() => server.closeAllConnections());
  };
  const incompleteDeadline = setTimeout(closeIncomplete, incompleteRequestGraceMs);
  await closed;
  clearInterval(idleSweep);
  clearTimeout(incompleteDeadline);
  clearTimeout(deadline);
}

function wait(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

/** The URL of a listener, for clients on the same machine. */
export function urlOf(host: string, port: number): string {
  const isEveryAddress = host === "0.0.0.0" || host === "::";
  if (isEveryAddress) return `http://127.0.0.1:${port}`;
  const isIpv6 = host.includes(":");
  return isIpv6 ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
