// Starts, drains and stops the HTTP server of a process.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { createServer } from "./node-http.ts";
import { type OverloadedResponse, overloadedProblem, respondOverloaded } from "../http/overloaded-response.ts";
import type { IncompleteRequests } from "../http/incomplete-requests.ts";
import { hasOneHost } from "../http/host.ts";
import { discardBody } from "../http/receive-body.ts";
import { listen, toListenError } from "./listen.ts";
import { createRequestOrder, hasBody } from "./request-order.ts";
import { abortConnection, createPendingResponseList, type PendingResponseList } from "./pending-responses.ts";
import type { Log } from "./log.ts";
import { type ProcessStatus, readStatus, type ReadState } from "./process-status.ts";

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /**
   * Makes `/health/ready` respond 503 and serves as usual for `drainDelayMs`. Then closes the listener, waits for the responses to complete requests,
   * closes the connections and calls `close`. A second call returns the same promise.
   */
  drain(): Promise<void>;
  /** Never rejects. */
  readiness(): Promise<Readiness>;
  /** Undefined without `readState`. */
  readonly status: (() => Promise<ProcessStatus>) | undefined;
}

export type Readiness = Readonly<Record<string, string>> & { readonly status: "ready" | "not ready" };

export type PendingResponses = (connection: Duplex) => readonly ServerResponse[];

export interface ServerOptions {
  readonly name: string;
  readonly handler: RequestListener;
  readonly host: string;
  /** For the error message. Default `PORT`. */
  readonly portVariable?: string;
  readonly port: number;
  readonly log: Log;
  /** Called for each `GET /health/ready`; an error counts as not ready. */
  isReady(): boolean | Promise<boolean>;
  /** Of each response to `GET /health/ready`. */
  readinessFields?(): Readonly<Record<string, string>>;
  readonly readState?: ReadState;
  /** Whether clients get the status at `/health/status`: in development only. */
  readonly servesStatus?: boolean;
  close(): Promise<void>;
  /** So that load balancers notice that readiness is 503. */
  readonly drainDelayMs: number;
  /** For responses to complete requests; others have at most a second. */
  readonly shutdownGraceMs: number;
  /** For the headers and for the whole request. Defaults 10 s and 30 s. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Node's option: a request without a body never emits `end`. Saves 6 % of a cache hit. */
  readonly optimizeEmptyRequests?: boolean;
  /** Without `incompleteRequests` and `heldRejections`; further ones get `overloadedResponse`. Default: no limit. */
  readonly requestsInFlightMax?: number;
  /** Not counted for `requestsInFlightMax`: they have limits of their own. */
  readonly incompleteRequests?: Pick<IncompleteRequests, "count">;
  /** `kit/src/admission/held-rejections.ts`. Default: each rejection is sent at once. */
  readonly heldRejections?: { hold(response: ServerResponse, send: () => void): void; count(): number };
  readonly onOverloaded?: () => void;
  readonly overloadedResponse?: OverloadedResponse;
  /** Further headers of it, as a raw list: those of CORS. */
  overloadedHeaders?(request: IncomingMessage): readonly string[];
  /** Before the server listens, to add listeners such as `clientError`. */
  prepare?(server: Server, pendingResponses: PendingResponses): void;
}

/**
 * Responds itself to `/health/live` (200 while the process runs), `/health/ready` (200 or 503), `/health/status` with `servesStatus`, and other paths
 * below `/health/` (404), by any method.
 * @throws ConfigError that names the port, if it is in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host, log, drainDelayMs, shutdownGraceMs } = options;
  const { incompleteRequests, heldRejections, requestsInFlightMax = Infinity } = options;
  const overloadedResponse = options.overloadedResponse ?? overloadedProblem;
  const pendingResponses = createPendingResponseList();
  let isDraining = false;

  async function readiness(): Promise<Readiness> {
    const isReady = !isDraining && (await isReadyWithoutError(options));
    return { status: isReady ? "ready" : "not ready", ...options.readinessFields?.() };
  }

  const { name, readState } = options;
  const status = readState && (() => readStatus(name, readiness, readState));

  const order = createRequestOrder(respond);

  function receive(request: IncomingMessage, response: ServerResponse): void {
    // Node passes on what it read before the connection was closed.
    if (request.socket.destroyed) return;
    const previous = pendingResponses.add(response);
    if (hasBody(request)) response.on("prefinish", () => discardUnreadBody(request));
    order.serve(request, response, previous);
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    if (request.url?.startsWith("/health/")) {
      void respondToHealth(request, response, readiness, options.servesStatus ? status : undefined, log);
      return;
    }
    const notInFlight = (incompleteRequests?.count() ?? 0) + (heldRejections?.count() ?? 0) + order.countWaiting();
    if (pendingResponses.count() - notInFlight > requestsInFlightMax) {
      options.onOverloaded?.();
      const reject = () => respondOverloaded(response, overloadedResponse, options.overloadedHeaders?.(request));
      if (heldRejections) heldRejections.hold(response, reject);
      else reject();
      return;
    }
    options.handler(request, response);
  }

  const optimizeEmptyRequests = options.optimizeEmptyRequests ?? false;
  // All requests that have become late since the last check are rejected in one iteration of the event loop, 0.13 ms each.
  const checking = { connectionsCheckingInterval: 200 };
  const server = createServer({ ...checking, optimizeEmptyRequests }, receive);
  server.headersTimeout = options.headersTimeoutMs ?? 10_000;
  server.requestTimeout = options.requestTimeoutMs ?? 30_000;
  server.keepAliveTimeout = 65_000;
  // Unknown expectations are ignored (RFC 9110, 10.1.1). Node's own 417 would not be in the order of the connection.
  server.on("checkExpectation", receive);
  options.prepare?.(server, pendingResponses.ofConnection);
  if (server.listenerCount("connect") === 0)
    server.on("connect", (_request, socket) => abortConnection(socket, pendingResponses.ofConnection(socket)));
  const acceptors = await listen(server, options).catch((error) => Promise.reject(toListenError(error, options)));
  const { port } = server.address() as AddressInfo;

  async function drainOnce(): Promise<void> {
    isDraining = true;
    pendingResponses.closeConnections();
    log.info({ drainDelayMs, shutdownGraceMs }, "draining");
    await wait(drainDelayMs);
    await closeServer(server, acceptors, pendingResponses, shutdownGraceMs);
    await options.close();
    log.info("stopped");
  }

  let drained: Promise<void> | undefined;
  function drain(): Promise<void> {
    drained ??= drainOnce();
    return drained;
  }

  return { port, url: urlOf(host, port), drain, readiness, status };
}

/** So that the sender of a whole large body can read its response. As the gateway. */
const discardedBytesMax = 16_777_216;

/** Node would read the rest of the body without a bound. */
function discardUnreadBody(request: IncomingMessage): void {
  const isUnread = request.readableFlowing === null && !request.complete && !request.destroyed;
  if (isUnread) discardBody(request, discardedBytesMax);
}

type StatusReader = RunningServer["status"];

const statusCodeOf = {
  live: 200,
  ready: 200,
  "not ready": 503,
  unknown: 404,
  "malformed request": 400,
  failed: 500,
} as const;

type HealthBody = Readiness | ProcessStatus | { readonly status: "live" | "unknown" | "malformed request" | "failed" };

async function respondToHealth(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<Readiness>,
  status: StatusReader,
  log: Log,
): Promise<void> {
  const body = await findHealth(request, readiness, status).catch((error: unknown): HealthBody => {
    log.error({ err: error }, "state of the process could not be read");
    return { status: "failed" };
  });
  response.statusCode = statusCodeOf[body.status];
  response.setHeader("Content-Type", "application/json");
  response.setHeader("Cache-Control", "no-store");
  if (body.status === "malformed request") response.setHeader("Connection", "close");
  response.end(request.method === "HEAD" ? undefined : JSON.stringify(body));
}

async function findHealth(
  request: IncomingMessage,
  readiness: () => Promise<Readiness>,
  status: StatusReader,
): Promise<HealthBody> {
  const path = request.url?.split("?", 1)[0];
  if (!hasOneHost(request)) return { status: "malformed request" };
  if (path === "/health/live") return { status: "live" };
  if (path === "/health/status" && status) return status();
  return path === "/health/ready" ? readiness() : { status: "unknown" };
}

async function isReadyWithoutError(options: ServerOptions): Promise<boolean> {
  try {
    return await options.isReady();
  } catch {
    return false;
  }
}

/** For connections without a complete request: a client that never completes one must not delay the process for the whole grace period. */
const incompleteRequestGraceMs = 1_000;

/**
 * Idle connections remain open until the pending responses are sent, so that none is closed while its client sends a request (its response has
 * `Connection: close`). Those with an incomplete request, or without any, are closed a second later, all others after `graceMs`.
 */
async function closeServer(
  server: Server,
  acceptors: readonly NetServer[],
  pending: PendingResponseList,
  graceMs: number,
): Promise<void> {
  const deadline = setTimeout(() => {
    pending.abort();
    server.closeAllConnections();
  }, graceMs);
  // Not `server.close`, which closes idle connections too.
  const closed = Promise.all(
    acceptors.map((acceptor) => new Promise((resolve) => NetServer.prototype.close.call(acceptor, resolve))),
  );
  await pending.settled();
  // Closes idle connections. A later response has `Connection: close`; Node would take it for idle before it is sent completely.
  server.close();
  const closeIncomplete = () => {
    // Requests that have become complete in the meantime get their responses first.
    void pending.settled().then(() => server.closeAllConnections());
  };
  const incompleteDeadline = setTimeout(closeIncomplete, incompleteRequestGraceMs);
  await closed;
  clearTimeout(incompleteDeadline);
  clearTimeout(deadline);
}

function wait(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

/** For clients on the same machine. */
export function urlOf(host: string, port: number): string {
  const isEveryAddress = host === "0.0.0.0" || host === "::";
  if (isEveryAddress) return `http://127.0.0.1:${port}`;
  const isIpv6 = host.includes(":");
  return isIpv6 ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
