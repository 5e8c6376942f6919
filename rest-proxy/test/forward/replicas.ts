import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  createServiceClient,
  type ServiceClient,
  type ServiceClientObservation,
  type ServiceClientOptions,
  type ServiceRequest,
  type ServiceResponse,
} from "../../src/forward/client.ts";

/** The tests of one transport apply to the other too. */
export const transports = ["sendByMiddleware", "sendByUndici"] as const;

const neverAborted = new AbortController().signal;
export const read: ServiceRequest = { method: "GET", target: "/a", headers: [], body: undefined, signal: neverAborted };
export const write: ServiceRequest = {
  ...read,
  method: "POST",
  headers: ["content-type", "application/json", "content-length", "2"],
  body: Buffer.from("{}"),
};

export function open(urls: readonly string[], options: Partial<ServiceClientOptions> = {}) {
  const seen: ServiceClientObservation[] = [];
  const client: ServiceClient = createServiceClient({
    service: "things",
    urls,
    requestsMax: 1_024,
    timeoutMs: 10_000,
    readTimeoutMs: 30_000,
    observe: (observation) => seen.push(observation),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, seen };
}

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

export const respondOk: Respond = (response) => void response.end("ok");
export const reset: Respond = (response) => void response.socket?.resetAndDestroy();
export const respondUnavailable: Respond = (response) => void response.writeHead(503).end("busy");

/** A real HTTP server that stands for one replica of a service. */
export interface ReplicaServer {
  readonly url: string;
  readonly port: number;
  /** Requests whose head arrived. */
  requests: number;
  respond: Respond;
  /** Closes every connection and the listener, as `kill -9` does. */
  kill(): Promise<void>;
}

export async function startReplica(respond = respondOk, { host = "127.0.0.1", port = 0 } = {}): Promise<ReplicaServer> {
  const server = createServer((request, response) => {
    replica.requests++;
    replica.respond(response, request);
  });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, host, resolve));
  const { port: listeningPort } = server.address() as AddressInfo;
  const replica: ReplicaServer = {
    url: `http://${host}:${listeningPort}`,
    port: listeningPort,
    requests: 0,
    respond,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  onTestFinished(() => replica.kill());
  return replica;
}

export async function startTwo(respond = respondOk): Promise<[ReplicaServer, ReplicaServer]> {
  return [await startReplica(respond), await startReplica(respond)];
}

/** A server that accepts connections and sends nothing, not even for TLS. */
export async function startMute(): Promise<number> {
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Resolves with the unsent response, once a request has arrived. */
export function holdResponse(replica: ReplicaServer): Promise<ServerResponse> {
  return new Promise((resolve) => (replica.respond = resolve));
}

/** The status and whole body of a response, or the code of the failure. */
export async function outcomeOf(sent: Promise<ServiceResponse>): Promise<string> {
  try {
    const { status, body } = await sent;
    return `${status} ${await textOf(body)}`;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

export function textOf(body: Buffer | Readable): Promise<string> {
  return text(toStream(body));
}

export function toStream(body: Buffer | Readable): Readable {
  return body instanceof Readable ? body : Readable.from([body]);
}

/** Sends `count` requests, `width` at a time. */
export async function stream(count: number, width: number, send: () => Promise<string>): Promise<string[]> {
  const outcomes: string[] = [];
  let started = 0;
  const run = async () => {
    while (started++ < count) outcomes.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return outcomes;
}

export function isNot(expected: string): (outcome: string) => boolean {
  return (outcome) => outcome !== expected;
}
