import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "../process/node-http.ts";
import { urlOf } from "../process/lifecycle.ts";
import { toListenError } from "../process/listen.ts";
import type { ChangeFeed, FeedEvent } from "./change-feed.ts";
import { readFeedPosition, writeFeedPosition } from "./position.ts";

export interface FeedListenerOptions {
  readonly feed: ChangeFeed;
  readonly host: string;
  readonly port: number;
  readonly keys: readonly string[];
  readonly observer?: FeedListenerObserver | undefined;
}

export interface FeedListenerObserver {
  onStreams(count: number): void;
  onResetSent(): void;
}

export interface FeedListener {
  readonly url: string;
  countStreams(): number;
  close(): Promise<void>;
}

/** One for each gateway, REST proxy and purger process. Further requests get 503. */
const streamsMax = 256;
/** A client with more is disconnected, and resumes by `Last-Event-ID`. */
const unsentBytesMax = 1_048_576;
/** To a client that waits for its first event: much shorter than its `silenceMsMax`. */
const heartbeatMs = 250;
/** `Last-Event-ID` lists each running transaction with up to 15 digits: Node's 16 KiB are too short for a thousand. */
const headerBytesMax = 131_072;

/**
 * `GET /changes` is a stream of server-sent events (HTML Living Standard, 9.2). The `id` of an event is its position; `event: changes` has
 * `{"groups":[…]}`, `event: reset` has `{}`, both with `revoked` if there are subjects. Before the first event there are comments. It needs a
 * key, since group names reveal which drafts and orders exist. @throws ConfigError that names FEED_PORT, if the port is in use.
 */
export async function startFeedListener(o: FeedListenerOptions): Promise<FeedListener> {
  const isAuthorized = createKeyCheck(o.keys);
  const streams = new Set<ServerResponse>();
  const format = createEventFormatter();
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    const isFeedRequest = request.method === "GET" && request.url === "/changes";
    if (!isFeedRequest) return reject(response, 404);
    if (!isAuthorized(request)) return reject(response, 401);
    if (streams.size >= streamsMax) return reject(response, 503);
    streams.add(response);
    o.observer?.onStreams(streams.size);
    const unsubscribe = startStream(o, format, request, response);
    response.once("close", () => {
      streams.delete(response);
      o.observer?.onStreams(streams.size);
      unsubscribe();
    });
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", (error: NodeJS.ErrnoException) => {
    const { host, port } = o;
    listening.reject(toListenError(error, { name: "feed", host, port, portVariable: "FEED_PORT" }));
  });
  server.listen(o.port, o.host, listening.resolve);
  await listening.promise;
  return {
    url: urlOf(o.host, (server.address() as AddressInfo).port),
    countStreams: () => streams.size,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function startStream(
  { feed, observer }: FeedListenerOptions,
  format: (event: FeedEvent) => Buffer,
  request: IncomingMessage,
  response: ServerResponse,
): () => void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  // The client knows before the first event that it is connected.
  response.flushHeaders();
  const lastEventId = request.headers["last-event-id"];
  const since = typeof lastEventId === "string" ? readFeedPosition(lastEventId) : undefined;
  const heartbeat = setInterval(() => response.write(": waiting\n"), heartbeatMs);
  const unsubscribe = feed.subscribe(
    {
      send(event) {
        clearInterval(heartbeat);
        response.write(format(event));
        if (event.kind === "reset") observer?.onResetSent();
        if (response.writableLength > unsentBytesMax) response.destroy();
      },
      end() {
        clearInterval(heartbeat);
        response.end();
      },
    },
    since,
  );
  return () => {
    clearInterval(heartbeat);
    unsubscribe();
  };
}

/** All streams share the bytes of an event: 256 copies of a reset with 10,000 subjects would be 50 MB. */
function createEventFormatter(): (event: FeedEvent) => Buffer {
  let last: { readonly event: FeedEvent; readonly bytes: Buffer } | undefined;
  return (event) => {
    if (last?.event !== event) {
      const { kind, position, ...data } = event;
      const text = `event: ${kind}\nid: ${writeFeedPosition(position)}\ndata: ${JSON.stringify(data)}\n\n`;
      last = { event, bytes: Buffer.from(text) };
    }
    return last.bytes;
  };
}

function reject(response: ServerResponse, status: 401 | 404 | 503): void {
  if (status === 401) response.setHeader("WWW-Authenticate", 'Bearer realm="feed"');
  response.writeHead(status).end();
}

const bearerPattern = /^Bearer (.+)$/i;

/** The time of the comparison must not depend on the keys. */
function createKeyCheck(keys: readonly string[]): (request: IncomingMessage) => boolean {
  const digestOf = (key: string) => createHash("sha256").update(key).digest();
  const digests = keys.map(digestOf);
  return ({ headers }) => {
    const [, key = ""] = bearerPattern.exec(headers.authorization ?? "") ?? [];
    const digest = digestOf(key);
    // Not `some`, which would end at the first equal key.
    const equalDigests = digests.filter((known) => timingSafeEqual(known, digest));
    return equalDigests.length > 0;
  };
}
