import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { startServer } from "@tributary/kit/process/lifecycle";
import { silentLog } from "@tributary/kit/process/log";
import { createProxyMiddleware, type Options } from "http-proxy-middleware";
import { onTestFinished } from "vitest";
import type { AdmissionLimits } from "../src/admit/admission.ts";
import { createRouteTable } from "../src/route/route-table.ts";
import type { Route } from "../src/route/routes.ts";
import type { RestProxyOptions } from "../src/pipeline.ts";
import { createRestProxy, type RestProxy } from "../src/server.ts";
import type { Observation } from "../src/telemetry/observations.ts";
import { createKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import { createRequestObserver } from "@tributary/kit/telemetry/request-observer";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { createRequestRecord, type FinishedProxyRequest } from "../src/telemetry/request-record.ts";

/** A small table of two services, of the shape of supergraph/routes.json. */
export const routes: readonly Route[] = [
  route("listThings", "GET", "/things", { query: ["limit", "search"] }),
  route("createThing", "POST", "/things", {}),
  route("getThing", "GET", "/things/:id", {}),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("deleteThing", "DELETE", "/things/:id", {}),
  route("listParts", "GET", "/things/:id/parts", { service: "parts" }),
];

export function route(id: string, method: Route["method"], path: string, more: Partial<Route>): Route {
  return { id, method, path, versions: [1], query: [], cache: "none", service: "things", summary: id, ...more };
}

/** What a stub service got, with its body as text. */
interface Seen {
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
  readonly seen: Seen[];
  readonly server: Server;
}

export type StubAnswer = (seen: Seen, response: ServerResponse) => void;

/** A service that writes down what it gets once it is whole, and answers `{"ok":true}` or what it is told to. */
export async function startStub(answer: StubAnswer = (_seen, response) => response.end('{"ok":true}')): Promise<Stub> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers, rawHeaders, socket } = request;
      const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString(), socket };
      seen.push(one);
      response.setHeader("Content-Type", "application/json");
      answer(one, response);
    });
    request.on("error", () => undefined);
  };
  const server = await listen(createServer(listener));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen, server };
}

export interface Running {
  readonly url: string;
  readonly port: number;
  readonly observed: Observation[];
  /** Requests whose answers are over. */
  readonly settled: FinishedProxyRequest[];
  /** The node:http server, to count its listeners. */
  readonly server: Server;
  readonly usage: RestProxy["usage"];
  drain(): Promise<void>;
}

export interface ProxySettings extends Partial<RestProxyOptions> {
  readonly routes?: readonly Route[];
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly drainDelayMs?: number;
}

/** Whoever comes is answered. */
export const noAdmissionLimits: AdmissionLimits = {
  readsPerMinute: 0,
  writesPerMinute: 0,
  clientsMax: 1_000,
  exempt: [],
  trustedProxies: [],
};

/** Our proxy as main.ts runs it, in front of one stub for every service. */
export async function startProxy(service: { readonly url: string }, settings: ProxySettings = {}): Promise<Running> {
  const observed: Observation[] = [];
  const settled: FinishedProxyRequest[] = [];
  const requests = createRequestObserver({
    trace: noTrace,
    methodOf: createKnownValues(["GET"]),
    createRecord: (span, { headers }) => createRequestRecord(span, headers),
    onFinished: (finished) => void settled.push(finished),
    onScrape: () => {},
  });
  const table = createRouteTable(settings.routes ?? routes);
  const proxy = createRestProxy({
    table,
    addresses: Object.fromEntries(table.services.map((name) => [name, [service.url]])),
    defaultVersion: 2,
    retirements: [],
    documents: new Map(),
    knownClients: [],
    corsOrigins: ["http://localhost:*"],
    admissionLimits: noAdmissionLimits,
    cacheLimits: { bytesMax: 1_000_000, entryBytesMax: 100_000, entriesMax: 1_000, variantsMax: 8, backgroundMax: 8 },
    bodyBytesMax: 65_536,
    bodiesInFlightMax: 512,
    inFlightMax: 256,
    upstreamTimeoutMs: 10_000,
    responseTimeoutMs: 30_000,
    observe: (observation) => observed.push(observation),
    observers: { requests },
    ...settings,
  });
  let server: Server | undefined;
  const running = await startServer({
    name: "rest-proxy",
    handler: proxy.handler,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    close: () => proxy.close(),
    drainDelayMs: settings.drainDelayMs ?? 0,
    shutdownGraceMs: 1_000,
    headersTimeoutMs: settings.headersTimeoutMs ?? 10_000,
    requestTimeoutMs: settings.requestTimeoutMs ?? 30_000,
    optimizeEmptyRequests: true,
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
  return { url, port, observed, settled, server, usage: proxy.usage, drain: () => running.drain() };
}

export interface Bare {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
}

/** The control: the middleware as its README starts it. `wrap` puts something in front of it. */
export async function startBare(options: Options, wrap?: (proxy: RequestListener) => RequestListener): Promise<Bare> {
  const middleware = createProxyMiddleware(options);
  const listener: RequestListener = (request, response) => void middleware(request, response);
  const server = await listen(createServer(wrap ? wrap(listener) : listener));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}

/** Listens on any free port until the test is over. */
export async function listen(server: Server): Promise<Server> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** A port on which nobody listens. */
export async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything that came so far. */
  text(): string;
  /** Waits until what came matches, or until the other side ended. */
  until(pattern: RegExp): Promise<string>;
  closed(): Promise<string>;
}

/** Writes bytes as they are: for what no HTTP client would send. */
export async function speak(port: number, ...bytes: readonly (string | Buffer)[]): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  let ended = false;
  const waiting = new Set<() => void>();
  const wake = () => waiting.forEach((check) => check());
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    wake();
  });
  socket.on("close", () => {
    ended = true;
    wake();
  });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  for (const one of bytes) socket.write(one);
  const until = (isThere: () => boolean) =>
    new Promise<string>((resolve) => {
      const check = () => {
        if (!isThere() && !ended) return;
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  return {
    socket,
    text: () => received,
    until: (pattern) => until(() => pattern.test(received)),
    closed: () => until(() => ended),
  };
}

/** One request as written, on a connection of its own; the whole answer as text. */
export async function ask(port: number, head: string, body = ""): Promise<string> {
  const connection = await speak(port, `${head}\r\nConnection: close\r\n\r\n${body}`);
  return connection.closed();
}

export function statusOfText(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

/** The JSON body of an answer as text. */
export function bodyOfText(answer: string): Record<string, unknown> {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as Record<string, unknown>;
}
