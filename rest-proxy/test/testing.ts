import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { CallerConfig } from "@tributary/kit/caller/caller-config";
import type { RateLimitConfig } from "@tributary/kit/rate-limit/rate-limit-config";
import { startServer } from "@tributary/kit/process/lifecycle";
import { silentLog } from "@tributary/kit/process/log";
import { priorityOfRoute } from "@tributary/kit/rest/routes";
import { onTestFinished } from "vitest";
import { createRouteTable } from "../src/route/route-table.ts";
import type { Route } from "../src/route/routes.ts";
import { createRestProxy, type RestProxy } from "../src/server.ts";
import { type ProxyConfig, readConfig } from "../src/config.ts";
import type { RestProxyOptions } from "../src/stages.ts";
import type { Observation } from "../src/telemetry/observations.ts";
import { createKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import { createRequestObserver } from "@tributary/kit/telemetry/request-observer";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { createRequestRecord, type FinishedProxyRequest } from "../src/telemetry/request-record.ts";

/** A small route table of two services. */
export const routes: readonly Route[] = [
  route("listThings", "GET", "/things", { query: ["limit", "search"] }),
  route("createThing", "POST", "/things", {}),
  route("getThing", "GET", "/things/:id", {}),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("deleteThing", "DELETE", "/things/:id", {}),
  route("listParts", "GET", "/things/:id/parts", { service: "parts" }),
];

export function route(id: string, method: Route["method"], path: string, more: Partial<Route>): Route {
  const declared = { id, method, path, versions: [1], query: [], cache: "none", service: "things" } as const;
  return { ...declared, priority: priorityOfRoute(method, undefined), summary: id, ...more };
}

/** A request that a stub service received, with its body as text. */
interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly socket: Socket;
}

export interface Stub {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedRequest[];
  readonly server: Server;
}

export type StubResponder = (request: ReceivedRequest, response: ServerResponse) => void;

/** A service that records its complete requests and responds with `{"ok":true}` or by `respond`. */
export async function startStub(
  respond: StubResponder = (_request, response) => response.end('{"ok":true}'),
): Promise<Stub> {
  const received: ReceivedRequest[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers, rawHeaders, socket } = request;
      const complete = { method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString(), socket };
      received.push(complete);
      response.setHeader("Content-Type", "application/json");
      respond(complete, response);
    });
    request.on("error", () => undefined);
  };
  const server = await listen(createServer(listener));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, received, server };
}

export interface Running {
  readonly url: string;
  readonly port: number;
  readonly observed: Observation[];
  /** Requests whose responses have ended. */
  readonly settled: FinishedProxyRequest[];
  /** The node:http server, to count its listeners. */
  readonly server: Server;
  readonly usage: RestProxy["usage"];
  readonly incompleteRequests: RestProxy["incompleteRequests"];
  drain(): Promise<void>;
}

export interface ProxySettings extends Partial<Omit<RestProxyOptions, "config">>, Partial<ProxyConfig> {
  readonly routes?: readonly Route[];
}

export const noRateLimits: RateLimitConfig = {
  readsPerMinute: 0,
  writesPerMinute: 0,
  callersMax: 1_000,
  exempt: [],
  storeUrl: undefined,
  storePassword: undefined,
  processesMin: 1,
};

/** Clients connect directly, and tokens are not verified. */
export const plainCallerConfig: CallerConfig = { trustedProxies: [], tokens: undefined, clientKeys: [] };

/** The proxy as main.ts runs it, with one stub for every service. */
export async function startProxy(service: { readonly url: string }, settings: ProxySettings = {}): Promise<Running> {
  const observed: Observation[] = [];
  const settled: FinishedProxyRequest[] = [];
  const requests = createRequestObserver({
    trace: noTrace,
    methodOf: createKnownValues(["GET"]),
    createRecord: (span, { headers }) => createRequestRecord(span, headers),
    onFinished: (finished) => void settled.push(finished),
    gauge: { onScrape: () => {} },
    onClose: () => {},
  });
  const table = createRouteTable(settings.routes ?? routes);
  const config: ProxyConfig = {
    ...readConfig({}, []),
    build: { version: "1.2.3", revision: "unknown" },
    addresses: Object.fromEntries(table.services.map((name) => [name, [service.url]])),
    retirements: [],
    corsOrigins: ["http://localhost:*"],
    admission: false,
    callerConfig: plainCallerConfig,
    rateLimitConfig: noRateLimits,
    cacheLimits: { bytesMax: 1_000_000, entryBytesMax: 100_000, entriesMax: 1_000, variantsMax: 8, backgroundMax: 8 },
    feedUrls: {},
    feedKey: "none",
    consistencyKeys: ["a key for tests only"],
    drainDelayMs: 0,
    ...settings,
  };
  const proxy = createRestProxy({
    table,
    documents: new Map(),
    observe: (observation) => observed.push(observation),
    observers: { requests },
    ...settings,
    config,
  });
  let server: Server | undefined;
  const running = await startServer({
    name: "rest-proxy",
    handler: proxy.handler,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    readState: proxy.readState,
    servesStatus: true,
    close: () => proxy.close(),
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: 1_000,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    optimizeEmptyRequests: true,
    incompleteRequests: proxy.incompleteRequests,
    overloadedHeaders: proxy.overloadedHeaders,
    ...(settings.requestsInFlightMax !== undefined && { requestsInFlightMax: settings.requestsInFlightMax }),
    prepare: (one, pendingResponses) => {
      server = one;
      proxy.prepare(one, pendingResponses);
    },
  });
  onTestFinished(() => {
    server?.closeAllConnections();
    return running.drain();
  });
  if (!server) throw new Error("The server was not prepared.");
  const { url, port } = running;
  const { usage, incompleteRequests } = proxy;
  return { url, port, observed, settled, server, usage, incompleteRequests, drain: () => running.drain() };
}

/** Listens on a free port until the end of the test. */
export async function listen(server: Server): Promise<Server> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** A port without a listener. */
export async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  text(): string;
  /** Waits until the received text matches, or the connection is closed. */
  until(pattern: RegExp): Promise<string>;
  closed(): Promise<string>;
}

/** Opens a connection and writes bytes that no HTTP client would send. */
export async function openConnection(port: number, ...bytes: readonly (string | Buffer)[]): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  let ended = false;
  const checks = new Set<() => void>();
  const runChecks = () => checks.forEach((check) => check());
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    runChecks();
  });
  socket.on("close", () => {
    ended = true;
    runChecks();
  });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  for (const part of bytes) socket.write(part);
  const until = (isDone: () => boolean) =>
    new Promise<string>((resolve) => {
      const check = () => {
        if (!isDone() && !ended) return;
        checks.delete(check);
        resolve(received);
      };
      checks.add(check);
      check();
    });
  return {
    socket,
    text: () => received,
    until: (pattern) => until(() => pattern.test(received)),
    closed: () => until(() => ended),
  };
}

/** Sends one request as written, on a separate connection. @returns the whole response as text. */
export async function sendRaw(port: number, head: string, body = ""): Promise<string> {
  const connection = await openConnection(port, `${head}\r\nConnection: close\r\n\r\n${body}`);
  return connection.closed();
}

export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1]);
}

/** The JSON body of a response. */
export function bodyOf(response: string): Record<string, unknown> {
  return JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4)) as Record<string, unknown>;
}
