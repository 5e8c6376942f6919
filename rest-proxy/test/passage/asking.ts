import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { PassageAnswer, PassageRequest } from "../../src/passage/ask.ts";
import {
  createPassage,
  type Passage,
  type PassageObservation,
  type PassageOptions,
} from "../../src/passage/passage.ts";

/** Whatever is true of one way has to be true of the other. */
export const ways = ["passThrough", "aside"] as const;

const forEver = new AbortController().signal;
export const read: PassageRequest = { method: "GET", target: "/a", headers: [], body: undefined, signal: forEver };
export const write: PassageRequest = {
  ...read,
  method: "POST",
  headers: ["content-type", "application/json", "content-length", "2"],
  body: Buffer.from("{}"),
};

export function open(urls: readonly string[], options: Partial<PassageOptions> = {}) {
  const seen: PassageObservation[] = [];
  const passage: Passage = createPassage({
    service: "things",
    urls,
    requestsMax: 1_024,
    timeoutMs: 10_000,
    readTimeoutMs: 30_000,
    observe: (what) => seen.push(what),
    ...options,
  });
  onTestFinished(() => passage.close());
  return { passage, seen };
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export const answerOk: Answer = (response) => void response.end("ok");
export const reset: Answer = (response) => void response.socket?.resetAndDestroy();
export const sayUnavailable: Answer = (response) => void response.writeHead(503).end("busy");

/** A real HTTP server that stands for one replica of a service. */
export interface Replica {
  readonly url: string;
  readonly port: number;
  /** Requests whose head arrived. */
  calls: number;
  answer: Answer;
  /** Drops every connection and the listener, as `kill -9` does. */
  kill(): Promise<void>;
}

export async function startReplica(answer = answerOk, { host = "127.0.0.1", port = 0 } = {}): Promise<Replica> {
  const server = createServer((request, response) => {
    replica.calls++;
    replica.answer(response, request);
  });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, host, resolve));
  const { port: taken } = server.address() as AddressInfo;
  const replica: Replica = {
    url: `http://${host}:${taken}`,
    port: taken,
    calls: 0,
    answer,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  onTestFinished(() => replica.kill());
  return replica;
}

export async function startTwo(answer = answerOk): Promise<[Replica, Replica]> {
  return [await startReplica(answer), await startReplica(answer)];
}

/** Takes connections and says nothing on them, not even of TLS. */
export async function startMute(): Promise<number> {
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Resolves with the answer that nobody gives, once a request has arrived. */
export function silence(replica: Replica): Promise<ServerResponse> {
  return new Promise((resolve) => (replica.answer = resolve));
}

/** What came of a request: its status and whole body, or the code of its failure. */
export async function outcomeOf(asked: Promise<PassageAnswer>): Promise<string> {
  try {
    const { status, body } = await asked;
    return `${status} ${await textOf(body)}`;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

/** A short answer of the pool is there at once; all others come. */
export function textOf(body: Buffer | Readable): Promise<string> {
  return text(toStream(body));
}

export function toStream(body: Buffer | Readable): Readable {
  return body instanceof Readable ? body : Readable.from([body]);
}

/** Asks `count` times, `width` at a time. */
export async function stream(count: number, width: number, askOne: () => Promise<string>): Promise<string[]> {
  const outcomes: string[] = [];
  let begun = 0;
  const run = async () => {
    while (begun++ < count) outcomes.push(await askOne());
  };
  await Promise.all(Array.from({ length: width }, run));
  return outcomes;
}

export function isNot(expected: string): (outcome: string) => boolean {
  return (outcome) => outcome !== expected;
}
