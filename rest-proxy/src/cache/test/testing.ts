import { createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import { expect, onTestFinished } from "vitest";
import type { CacheObservation, OriginRequest } from "../cache-request.ts";
import { createSharedCache, type SharedCache, type SharedCacheOptions } from "../shared-cache.ts";
import { createHttpOrigin, type HttpOrigin } from "../standalone/standalone.ts";

/** One request that the origin has and has not answered yet. */
interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  /** Names and values in turn. */
  answer(status: number, headers: readonly string[], body?: string): void;
  readonly gone: Promise<void>;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Sent {
  readonly answer: Promise<Answered>;
  /** The head is here, and perhaps not all of the body. */
  readonly head: Promise<unknown>;
  /** The client goes away. */
  leave(): void;
}

export interface SetUp {
  readonly cache: SharedCache;
  readonly observed: CacheObservation[];
  /** The next request that comes to the origin. */
  asked(): Promise<Asked>;
  /** How many have come. */
  readonly askedCount: () => number;
  /** From now on the origin answers by itself. */
  always(answer: (asked: Asked) => void): void;
  send(path: string, headers?: Readonly<Record<string, string>>, method?: string): Sent;
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Answered>;
  passSeconds(seconds: number): void;
  /** Resolves when so many requests, counted from the beginning, have come to the cache. */
  received(count: number): Promise<void>;
  /** Resolves when the cache has seen so many clients go before their answer was out. */
  left(count: number): Promise<void>;
}

/** A cache in front of an origin that the test plays, all over real HTTP; time passes only when the test says so. */
export async function setUp(options: Partial<SharedCacheOptions> = {}): Promise<SetUp> {
  const asked = createQueue<Asked>();
  let always: ((asked: Asked) => void) | undefined;
  let askedCount = 0;
  const origin = await listen((request, response) => {
    askedCount++;
    const one = toAsked(request, response);
    if (always) always(one);
    else asked.put(one);
  });
  let nowMs = Date.UTC(2026, 10, 21);
  const observed: CacheObservation[] = [];
  const cache = createSharedCache({
    name: "test",
    bytesMax: 1_000_000,
    entryBytesMax: 100_000,
    entriesMax: 1_000,
    variantsMax: 4,
    backgroundMax: 8,
    targetedFields: ["cdn-cache-control"],
    nowMs: () => nowMs,
    keysOf: (reference, key) => (reference.startsWith("/") && reference !== key ? [reference] : []),
    observe: (observation) => observed.push(observation),
    ...options,
  });
  const http = createHttpOrigin(new URL(origin));
  let receivedCount = 0;
  let leftCount = 0;
  const proxy = await listen((request, response) => {
    receivedCount++;
    void forward(cache, http.fetch, request, response);
    response.once("close", () => (leftCount += response.writableFinished ? 0 : 1));
  });
  onTestFinished(() => cache.close().then(() => http.close()));
  return {
    ...{ cache, observed, asked: asked.take },
    askedCount: () => askedCount,
    always: (answer) => void (always = answer),
    send: (path, headers, method) => sendTo(proxy + path, headers, method),
    get: (path, headers, method) => sendTo(proxy + path, headers, method).answer,
    passSeconds: (seconds) => void (nowMs += seconds * 1_000),
    received: (count) => expect.poll(() => receivedCount).toBe(count),
    left: (count) => expect.poll(() => leftCount).toBe(count),
  };
}

async function forward(
  cache: SharedCache,
  ask: HttpOrigin["fetch"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? "";
  const selecting = (field: string) => request.headers[field]?.toString();
  const origin = target.startsWith("/other/") ? "other" : "origin";
  const lookup = { origin, key: target, request, selecting };
  const complete = (list: string[]) => [...list, "X-Own", "1"];
  const fresh = cache.findFresh(lookup);
  if (fresh) return void response.writeHead(fresh.status, complete(fresh.headers)).end(fresh.body);
  const background = (asked: OriginRequest) => ask(target, asked, undefined);
  const headers = ["Host", "origin", ...withoutHeaders(request.rawHeaders, (name) => name === "host")];
  await cache
    .respond(lookup, response, { headers, background, forClient: background }, complete)
    .catch((error: unknown) => {
      response.writeHead(502).end(String(error));
    });
}

function toAsked(request: IncomingMessage, response: ServerResponse): Asked {
  const { method = "", url = "", headers } = request;
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  const answer = (status: number, list: readonly string[], body = "") => {
    response.sendDate = false;
    response.writeHead(status, [...list]).end(body);
  };
  return { method, url, headers, response, answer, gone };
}

function sendTo(url: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Sent {
  const outgoing = send(url, { method, headers, agent: false });
  const answer = new Promise<Answered>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (text: string) => (body += text));
      incoming.once("error", reject);
      incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }));
    });
  });
  answer.catch(() => {});
  const head = new Promise((resolve) => outgoing.once("response", resolve));
  outgoing.end();
  return { answer, head, leave: () => void outgoing.destroy() };
}

function createQueue<T>() {
  const waiting: ((one: T) => void)[] = [];
  const here: T[] = [];
  return {
    put(one: T): void {
      const taker = waiting.shift();
      if (taker) taker(one);
      else here.push(one);
    },
    take(): Promise<T> {
      const one = here.shift();
      return one === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(one);
    },
  };
}

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
