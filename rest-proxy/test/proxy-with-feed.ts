import { toMissingHeaders } from "@tributary/kit/rest/caching";
import { startStubFeed } from "@tributary/kit/testing/stub-feed";
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import { expect, onTestFinished } from "vitest";
import { type ProxySettings, route, type Running, startProxy, startStub } from "./testing.ts";

const routes = [
  route("getThing", "GET", "/things/:id", { cache: "public" }),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("createThing", "POST", "/things", {}),
  route("getPart", "GET", "/parts/:id", { cache: "public", service: "parts" }),
];
/** What `read` returns of `Cache-Status`. */
export const [hit, missed, changed, confirmed] = [
  "hit; ttl=…",
  "fwd=uri-miss; fwd-status=200; stored",
  "fwd=stale; fwd-status=200; stored",
  "fwd=stale; fwd-status=304; stored",
];

interface StubService {
  /** Of all resources: the body and the ETag. */
  version: number;
  status: number;
  /** By which its clock is behind that of the proxy. */
  behindMs: number;
  /** The value of `Write-Position` in every response. */
  position: string | undefined;
  sendsReceipt: boolean;
  /** Responses wait for `release`. */
  hold(): { release(): void };
}

/** A proxy with the services `things`, which has a feed, and `parts`, which has none. Both allow stale responses for an hour. */
export async function startProxyWithFeed(settings: ProxySettings = {}) {
  let released = Promise.resolve();
  const service: StubService = {
    ...{ version: 1, status: 200, behindMs: 0, position: undefined, sendsReceipt: false },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      return { release: resolve };
    },
  };
  let nowMs = Date.UTC(2026, 10, 21);
  const stub = await startStub(({ method, url, headers }, response) => {
    const etag = `"${service.version}"`;
    if (service.position !== undefined) response.setHeader("Write-Position", service.position);
    if (service.sendsReceipt) response.setHeader("Consistency-Token", '"coffee"');
    response.setHeader("Date", new Date(nowMs - service.behindMs).toUTCString());
    response.statusCode = service.status;
    if (method === "GET" && service.status === 200) {
      response.setHeader("Cache-Control", "max-age=60, stale-while-revalidate=3600, stale-if-error=3600");
      response.setHeader("Cache-Groups", `"id:${url.split("/").at(-1)}"`).setHeader("ETag", etag);
      if (headers["if-none-match"] === etag) response.statusCode = 304;
    }
    if (service.status === 404) {
      response.setHeader("Content-Type", "application/problem+json").setHeader("Cache-Control", "no-store");
      if (headers.authorization === undefined) {
        for (const [name, value] of Object.entries(toMissingHeaders([`id:${url.split("/").at(-1)}`])))
          response.setHeader(name, value);
      }
    }
    const hasBody = ![204, 304].includes(response.statusCode);
    void released.then(() => response.end(hasBody ? `{"version":${service.version}}` : undefined));
  });
  const feed = await startFeed();
  const nowOf = () => nowMs;
  const proxy = await startProxy(stub, {
    routes,
    feedUrls: { things: [feed.url] },
    feedKey: feed.key,
    nowMs: nowOf,
    ...settings,
  });
  if (settings.feedUrls === undefined) await feed.followedBy(proxy);
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    // Without it, `fetch` adds `no-cache` to a conditional request.
    fetch(`${proxy.url}/v1${path}`, { method, headers: { "cache-control": "max-age=60", ...headers } });
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await send(path, headers);
    await response.arrayBuffer();
    return cacheStatusOf(response);
  };
  const passSeconds = (seconds: number) => void (nowMs += seconds * 1_000);
  /** Announces a change, and waits until the proxy has received it. @returns the write. */
  const announce = async (what: readonly string[] | "reset") => {
    await read(probe);
    const write = feed.announce(what === "reset" ? what : [...what, "id:probe"]);
    await expect.poll(() => read(probe)).not.toBe(hit);
    return write;
  };
  // A feed client of another test that reconnects to a closed port may reach this stub.
  const fetched = () => stub.received.filter(({ url }) => isResource.test(url) && !url.endsWith(probe));
  return { service, proxy, send, read, passSeconds, fetched, feed: { ...feed, send: announce } };
}

const isResource = /\/(things|parts)(\/|\?|$)/;

/** A resource whose stored response shows which changes the proxy has received. */
const probe = "/things/probe";

/** `Cache-Status` without the name of the cache and the remaining freshness. */
export function cacheStatusOf({ headers }: Response): string | undefined {
  return headers
    .get("cache-status")
    ?.replace("tributary; ", "")
    .replace(/ttl=\d+/, "ttl=…");
}

/** The feed of the service `things`. */
async function startFeed() {
  const feed = await startStubFeed();
  /** The first write that the feed has not sent. */
  let first = feed.write();
  let isOpen = true;
  const stop = async () => {
    if (isOpen) await feed.close();
    isOpen = false;
  };
  onTestFinished(stop);
  const stateOf = ({ observed }: Running) => observed.findLast(({ kind }) => kind === "feed-state");
  return {
    url: feed.url,
    key: feed.key,
    /** The position of a write which the feed has not sent: of the next one, or one of the later ones. */
    next: (ahead = 0): ServiceWrite => ({ service: "things", ...first, xid: first.xid + ahead }),
    followedBy: (proxy: Running) => expect.poll(() => stateOf(proxy)).toMatchObject({ state: "up" }),
    stop,
    /** Sends the change of a write. @returns the write. */
    announce(what: readonly string[] | "reset"): ServiceWrite {
      const write: ServiceWrite = { service: "things", ...first };
      if (what === "reset") feed.reset();
      else feed.change(...what);
      first = feed.write();
      return write;
    },
  };
}
