import {
  createServer,
  type IncomingMessage,
  request as send,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { withoutHeaders } from "@tributary/kit/http/raw-headers";
import { expect, onTestFinished } from "vitest";
import { dropBody } from "../body-relay.ts";
import type { CacheObservation, OriginRequest } from "../cache-request.ts";
import { createSharedCache, type SharedCache, type SharedCacheOptions } from "../shared-cache.ts";
import { createHttpOrigin, type HttpOrigin } from "./standalone/standalone.ts";

/** A request that the origin has received and not yet responded to. */
interface OriginRequestStub {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  /** @param headers alternating names and values. */
  respond(status: number, headers: readonly string[], body?: string): void;
  /** The connection to the cache is closed. */
  readonly closed: Promise<void>;
}

interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Sent {
  readonly response: Promise<ReceivedResponse>;
  /** Resolves with the head of the response. */
  readonly head: Promise<unknown>;
  /** Closes the connection of the client. */
  disconnect(): void;
}

export interface SetUp {
  readonly cache: SharedCache;
  readonly observed: CacheObservation[];
  /** The next request that the origin receives. */
  nextRequest(): Promise<OriginRequestStub>;
  /** Requests that the origin has received. */
  readonly requestCount: () => number;
  /** From now on the origin responds with this function; undefined: the test responds to `nextRequest`. */
  respondAlways(respond: ((request: OriginRequestStub) => void) | undefined): void;
  send(path: string, headers?: Readonly<Record<string, string>>, method?: string): Sent;
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<ReceivedResponse>;
  passSeconds(seconds: number): void;
  /** Resolves when the cache has received this many requests in total. */
  received(count: number): Promise<void>;
  /** Resolves when this many clients have disconnected before the end of their response. */
  disconnected(count: number): Promise<void>;
}

/** A cache in front of an origin that the test controls, over real HTTP. The clock advances only by `passSeconds`. */
export async function setUp(options: Partial<SharedCacheOptions> = {}): Promise<SetUp> {
  const requests = createQueue<OriginRequestStub>();
  let always: ((request: OriginRequestStub) => void) | undefined;
  let requestCount = 0;
  const origin = await listen((request, response) => {
    requestCount++;
    const stub = toRequestStub(request, response);
    if (always) always(stub);
    else requests.put(stub);
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
    nowMs: () => nowMs,
    keysOf: (reference, key) => (reference.startsWith("/") && reference !== key ? [reference] : []),
    observe: (observation) => observed.push(observation),
    ...options,
  });
  const http = createHttpOrigin(new URL(origin.url));
  let receivedCount = 0;
  let disconnectedCount = 0;
  const proxy = await listen((request, response) => {
    receivedCount++;
    void forward(cache, http.fetch, request, response);
    response.once("close", () => (disconnectedCount += response.writableFinished ? 0 : 1));
  });
  onTestFinished(() => cache.close().then(() => http.close()));
  return {
    ...{ cache, observed, nextRequest: requests.take },
    requestCount: () => requestCount,
    respondAlways: (respond) => void (always = respond),
    send: (path, headers, method) => sendTo(proxy.url + path, headers, method),
    get: (path, headers, method) => sendTo(proxy.url + path, headers, method).response,
    passSeconds: (seconds) => void (nowMs += seconds * 1_000),
    received: (count) => expect.poll(() => receivedCount).toBe(count),
    disconnected: (count) => expect.poll(() => disconnectedCount).toBe(count),
  };
}

export const staleable = ["Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=6000"];

/** An origin whose one resource has versions; it responds with 304 to the ETag of the current one. */
export async function withResource(options: Partial<SharedCacheOptions> = {}) {
  const all = await setUp(options);
  const origin = { version: 1, fails: false };
  all.respondAlways(({ headers, respond }) => {
    const etag = `"${origin.version}"`;
    const head = [...staleable, "ETag", etag, "Cache-Groups", '"g"'];
    if (origin.fails) return respond(503, []);
    if (headers["if-none-match"] === etag) return respond(304, head);
    respond(200, head, `version ${origin.version}`);
  });
  const read = async (headers: Readonly<Record<string, string>> = {}) => {
    const response = await all.get("/a", headers);
    return [response.status, response.body, String(response.headers["cache-status"]).replace("test; ", "")];
  };
  await read();
  return { ...all, origin, read };
}

class Refused extends Error {}

async function forward(
  cache: SharedCache,
  fetchOrigin: HttpOrigin["fetch"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? "";
  const varyValueOf = (field: string) => request.headers[field]?.toString();
  const origin = target.startsWith("/other/") ? "other" : "origin";
  // Headers of these tests only: the caller of the cache decides what a client demands.
  const { "sent-after": mark, "forbids-stale": forbids, "leaves-after": leavesAfterMs } = request.headers;
  const endsAtMs = leavesAfterMs === undefined ? undefined : performance.now() + Number(leavesAfterMs);
  const demands = { sentAfter: mark === undefined ? undefined : Number(mark), forbidsStale: forbids !== undefined };
  const lookup = { origin, key: target, request, varyValueOf, ...demands };
  const addHeaders = (list: string[]) => [...list, "X-Own", "1"];
  const fresh = cache.findFresh(lookup);
  if (fresh) return void response.writeHead(fresh.status, addHeaders(fresh.headers)).end(fresh.body);
  const fetch = async (originRequest: OriginRequest) => {
    const fetched = await fetchOrigin(target, originRequest, undefined);
    if (request.headers["is-refused"] === undefined) return fetched;
    dropBody(fetched.body);
    throw new Refused();
  };
  const isRefused = (error: unknown) => error instanceof Refused;
  const headers = ["Host", "origin", ...withoutHeaders(request.rawHeaders, (name) => name === "host")];
  await cache
    .respond({ lookup, response, fetchers: { headers, fetch, isRefused }, addHeaders, endsAtMs })
    .catch((error: unknown) => {
      response.writeHead(502).end(String(error));
    });
}

function toRequestStub(request: IncomingMessage, response: ServerResponse): OriginRequestStub {
  const { method = "", url = "", headers } = request;
  const closed = new Promise<void>((resolve) => response.once("close", resolve));
  const respond = (status: number, list: readonly string[], body = "") => {
    response.sendDate = false;
    response.writeHead(status, [...list]).end(body);
  };
  return { method, url, headers, response, respond, closed };
}

function sendTo(url: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Sent {
  const outgoing = send(url, { method, headers, agent: false });
  const response = new Promise<ReceivedResponse>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (text: string) => (body += text));
      incoming.once("error", reject);
      incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }));
    });
  });
  response.catch(() => {});
  const head = new Promise((resolve) => outgoing.once("response", resolve));
  outgoing.end();
  return { response, head, disconnect: () => void outgoing.destroy() };
}

function createQueue<T>() {
  const takers: ((item: T) => void)[] = [];
  const items: T[] = [];
  return {
    put(item: T): void {
      const taker = takers.shift();
      if (taker) taker(item);
      else items.push(item);
    },
    take(): Promise<T> {
      const item = items.shift();
      return item === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(item);
    },
  };
}

/** Starts a server until the end of the test. `stop` closes its connections too. */
export async function listen(handler: RequestListener): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
