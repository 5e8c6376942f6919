import { createReceipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import type { ChangeFeed, FeedEvent, FeedSubscriber } from "@tributary/kit/feed/change-feed";
import { startFeedListener } from "@tributary/kit/feed/feed-listener";
import { parseSnapshot } from "@tributary/kit/feed/snapshot";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen, type ProxySettings, route, type Running, startProxy, startStub } from "./testing.ts";

const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const otherEpoch = "ffffffff-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const feedKey = "a key for tests only";
const receipts = createReceipts(["a key for tests only"]);

const routes = [
  route("getThing", "GET", "/things/:id", { cache: "public" }),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("createThing", "POST", "/things", {}),
  route("getPart", "GET", "/parts/:id", { cache: "public", service: "parts" }),
];
const [hit, missed, changed, confirmed] = [
  "hit; ttl=…",
  "fwd=uri-miss; fwd-status=200; stored",
  "fwd=stale; fwd-status=200; stored",
  "fwd=stale; fwd-status=304; stored",
];

describe("a change feed", () => {
  test("invalidates the responses of its service with a changed group", async () => {
    const { feed, service, read } = await setUp();
    expect([await read("/things/7"), await read("/things/8"), await read("/parts/7")]).toEqual([
      missed,
      missed,
      missed,
    ]);
    await feed.send(["id:7"]);
    expect([await read("/things/7"), await read("/things/8"), await read("/parts/7")]).toEqual([confirmed, hit, hit]);
    service.version++;
    expect(await read("/things/7")).toEqual(hit);
    await feed.send(["id:7"]);
    expect(await read("/things/7")).toEqual(changed);
  });

  test("removes all responses of its service by a reset", async () => {
    const { feed, read } = await setUp();
    await Promise.all([read("/things/7"), read("/things/8"), read("/parts/7")]);
    await feed.send("reset");
    expect([await read("/things/7"), await read("/things/8"), await read("/parts/7")]).toEqual([missed, missed, hit]);
  });

  test("that is down makes entries of its service older than two seconds be validated, and none be sent while it is refreshed", async () => {
    const { feed, read, passSeconds } = await setUp();
    await Promise.all([read("/things/7"), read("/parts/7")]);
    await feed.stop();
    passSeconds(1);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([hit, hit]);
    passSeconds(1);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([confirmed, hit]);
    passSeconds(61);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([confirmed, "hit; ttl=-3"]);
  });

  test("is optional: without one, responses are used by their own freshness, and invalidated by the responses to writes", async () => {
    const { read, send, passSeconds } = await setUp({ feedUrls: {} });
    expect(await read("/things/7")).toBe(missed);
    passSeconds(30);
    expect(await read("/things/7")).toBe(hit);
    await send("/things/7", {}, "PATCH");
    expect([await read("/things/7"), await read("/things/7")]).toEqual([confirmed, hit]);
  });
});

describe("a read with a receipt", () => {
  test("gets a stored response if the write has reached the cache", async () => {
    const { feed, read } = await setUp();
    await read("/things/7");
    const written = await feed.send(["id:8"]);
    expect(await read("/things/7", withReceipt(written))).toBe(hit);
  });

  test.each([
    ["does not concern the response", ["id:8"], hit],
    ["concerns the response", ["id:7"], confirmed],
  ])("waits for a write that has not reached the cache, and that %s", async (_, groups, expected) => {
    const readWhileSent = async () => {
      const { feed, read, fetched } = await setUp();
      await read("/things/7");
      const reading = read("/things/7", withReceipt(feed.next()));
      await sleep(10);
      feed.announce(groups);
      return [await reading, fetched().length];
    };
    const right = [expected, expected === hit ? 1 : 2];
    // The read waits for 50 ms only, which a busy machine may exceed.
    const results = [await readWhileSent(), await readWhileSent(), await readWhileSent()];
    expect(results).toContainEqual(right);
  });

  test("gets a response of the origin if the write does not reach the cache; it is stored for readers of the same receipt", async () => {
    const { feed, service, read, fetched } = await setUp();
    await read("/things/7");
    const first = withReceipt(feed.next(20));
    service.version++;
    expect(await read("/things/7", first)).toBe("fwd=request; fwd-status=200; stored");
    expect([await read("/things/7", first), await read("/things/7")]).toEqual([hit, hit]);
    expect(await read("/things/8", first)).toBe(missed);
    expect(fetched()).toHaveLength(3);
    const second = withReceipt(feed.next(21), feed.next(20));
    expect(await read("/things/7", second)).toBe("fwd=request; fwd-status=304; stored");
  });

  test("gets no response that was requested before its receipt arrived, and shares the new one", async () => {
    const { feed, service, send, fetched } = await setUp();
    const held = service.hold();
    const early = send("/things/7");
    await expect.poll(() => fetched().length).toBe(1);
    const late = [1, 2, 3].map(() => send("/things/7", withReceipt(feed.next(20))));
    await expect.poll(() => fetched().length).toBe(2);
    held.release();
    const statuses = await Promise.all([early, ...late].map(async (response) => cacheStatusOf(await response)));
    expect(statuses.slice(1).filter((status) => status === "fwd=uri-miss; collapsed")).toHaveLength(2);
    expect(fetched()).toHaveLength(2);
  });

  test("needs the origin if the write is of another epoch, or of a service without a feed", async () => {
    const { feed, read } = await setUp();
    await Promise.all([read("/things/7"), read("/parts/7")]);
    const request = "fwd=request; fwd-status=304; stored";
    expect(await read("/things/7", withReceipt({ ...feed.next(1), epoch: otherEpoch }))).toBe(request);
    expect(await read("/things/7", withReceipt({ ...feed.next(1), epoch: undefined }))).toBe(request);
    expect(await read("/parts/7", withReceipt({ ...feed.next(1), service: "parts" }))).toBe(request);
    expect(await read("/parts/7", withReceipt({ ...feed.next(1), service: "parts" }))).toBe(hit);
  });

  test("of another service gets what a read without one gets", async () => {
    const { feed, service, read, passSeconds } = await setUp();
    await read("/things/7");
    const ofOther = withReceipt({ ...feed.next(), service: "parts" });
    expect(await read("/things/7", ofOther)).toBe(hit);
    passSeconds(61);
    service.status = 503;
    expect(await read("/things/7", ofOther)).toBe("hit; ttl=-1");
  });

  test.each([
    ["known", -1],
    ["unknown", 20],
  ])("gets the error of the origin instead of a stale response: with a write that is %s", async (_, xidsAhead) => {
    const { feed, service, send, passSeconds } = await setUp();
    await send("/things/7");
    service.status = 503;
    passSeconds(61);
    expect((await send("/things/7", withReceipt(feed.next(xidsAhead)))).status).toBe(503);
    await feed.stop();
    expect((await send("/things/7", withReceipt(feed.next(xidsAhead)))).status).toBe(503);
    expect((await send("/things/7")).status).toBe(200);
  });

  test("has no effect on other clients, and gets no receipt", async () => {
    const { feed, send } = await setUp();
    const response = await send("/things/7", withReceipt(feed.next(20)));
    expect(response.headers.get("vary") ?? "").not.toContain("onsistency");
    expect(response.headers.get("consistency-token")).toBeNull();
  });
});

test.each(["GET", "PATCH"])(
  "%s with a receipt that cannot be read is rejected, and not sent to the service",
  async (method) => {
    const { send, fetched } = await setUp();
    const foreign = createReceipts(["the key of another platform"]).write([], [{ service: "things", epoch, xid: 1 }]);
    for (const text of [foreign, "coffee", `"coffee"`, `${foreign}, ${foreign}`]) {
      const response = await send("/things/7", { "consistency-token": text }, method);
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ type: "/problems/malformed-request" }),
      ]);
    }
    expect(fetched()).toEqual([]);
  },
);

describe("a response to a write", () => {
  test.each([200, 201, 204, 404, 409, 412])(
    "with status %i has a receipt, which keeps the writes to other services",
    async (status) => {
      const { service, send } = await setUp();
      Object.assign(service, { status, position: `${epoch}/77` });
      const [before, part] = [
        { service: "things", epoch, xid: 5 },
        { service: "parts", epoch: otherEpoch, xid: 6 },
      ];
      const response = await send("/things/7", withReceipt(before, part), "PATCH");
      expect(response.status).toBe(status);
      expect(readReceipt(response)).toEqual([part, { service: "things", epoch, xid: 77 }]);
      expect(response.headers.get("write-position")).toBeNull();
    },
  );

  test.each([undefined, "", "coffee", `${epoch}/`, `${epoch}/-1`, `${epoch}/1e3`, `/${"9".repeat(99)}`])(
    "whose service sends the position %j has no receipt",
    async (position) => {
      const { service, send } = await setUp();
      service.position = position;
      const response = await send("/things/7", {}, "PATCH");
      expect(response.headers.get("consistency-token")).toBeNull();
      expect(response.headers.get("write-position")).toBeNull();
    },
  );

  test("makes the next read with it wait for the feed", async () => {
    const { feed, service, send, read } = await setUp();
    await read("/things/8");
    service.position = `${epoch}/${feed.next().xid}`;
    const { headers } = await send("/things/7", {}, "PATCH");
    const receipt = { "consistency-token": headers.get("consistency-token") ?? "" };
    expect(await read("/things/8", receipt)).toBe("fwd=request; fwd-status=304; stored");
    await feed.send([]);
    expect(await read("/things/8", receipt)).toBe(hit);
  });
});

describe("headers", () => {
  test.each(["GET", "PATCH"])(
    "a service gets neither the receipt of %s nor a position from the client",
    async (method) => {
      const { feed, send, fetched } = await setUp();
      await send("/things/7", { ...withReceipt(feed.next(-1)), "write-position": `${epoch}/9` }, method);
      expect(Object.keys(fetched()[0]?.headers ?? {})).not.toContain("consistency-token");
      expect(Object.keys(fetched()[0]?.headers ?? {})).not.toContain("write-position");
    },
  );

  test("a client gets no position and no receipt that a service sends with a read, a 304 or an error", async () => {
    const { feed, service, send } = await setUp();
    Object.assign(service, { position: `${epoch}/9`, sendsReceipt: true });
    const fetched = await send("/things/7");
    const cached = await send("/things/7");
    await feed.send(["id:7"]);
    const validated = await send("/things/7");
    service.status = 404;
    const failed = await send("/things/404");
    const unchanged = await send("/things/7", { "if-none-match": validated.headers.get("etag") ?? "" });
    const all = [fetched, cached, validated, failed, unchanged];
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 404, 304]);
    for (const { headers } of all) {
      expect([headers.get("write-position"), headers.get("consistency-token")]).toEqual([null, null]);
    }
  });

  test("pages of other origins may send and read receipts", async () => {
    const { proxy, send } = await setUp();
    const preflight = await fetch(`${proxy.url}/v1/things/7`, {
      method: "OPTIONS",
      headers: { origin: "http://localhost:1", "access-control-request-method": "GET" },
    });
    const listed = (headers: Headers, name: string) => headers.get(name)?.toLowerCase().split(", ");
    expect(listed(preflight.headers, "access-control-allow-headers")).toContain("consistency-token");
    const response = await send("/things/7", { origin: "http://localhost:1" }, "PATCH");
    expect(listed(response.headers, "access-control-expose-headers")).toContain("consistency-token");
  });
});

test.each([
  ["invalid JSON", `event: changes\nid: ${epoch}/5:5:\ndata: {"groups":[\n\n`],
  ["groups that are not texts", `event: changes\nid: ${epoch}/5:5:\ndata: {"groups":[{"toString":1}]}\n\n`],
  ["an unknown event", `event: advice\nid: ${epoch}/5:5:\ndata: {}\n\n`],
  ["an endless line", `data: ${"x".repeat(2_000_000)}`],
])("a feed that sends %s is down, its replicas are tried again, and the proxy serves reads", async (_, text) => {
  let connections = 0;
  const rogue = await listen(
    createServer((_request, response) => {
      connections++;
      response.on("error", () => {});
      response.write(`event: reset\nid: ${epoch}/5:5:\ndata: {}\n\n${text}`);
    }),
  );
  const url = `http://127.0.0.1:${(rogue.address() as { port: number }).port}`;
  const { read, passSeconds } = await setUp({ feedUrls: { things: [url] } });
  await expect.poll(() => connections).toBeGreaterThan(1);
  await expect.poll(() => read("/things/7")).toBe(hit);
  await expect
    .poll(() => {
      passSeconds(3);
      return read("/things/7");
    })
    .toBe(confirmed);
});

interface StubService {
  /** Of all resources: the body and the ETag. */
  version: number;
  status: number;
  /** The value of `Write-Position` in every response. */
  position: string | undefined;
  sendsReceipt: boolean;
  /** Responses wait for `release`. */
  hold(): { release(): void };
}

/** A proxy with the services `things`, which has a feed, and `parts`, which has none. Both allow stale responses for an hour. */
async function setUp(settings: ProxySettings = {}) {
  let released = Promise.resolve();
  const service: StubService = {
    ...{ version: 1, status: 200, position: undefined, sendsReceipt: false },
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
    response.setHeader("Date", new Date(nowMs).toUTCString());
    response.statusCode = service.status;
    if (method === "GET" && service.status === 200) {
      response.setHeader("Cache-Control", "max-age=60, stale-while-revalidate=3600, stale-if-error=3600");
      response.setHeader("Cache-Groups", `"id:${url.split("/").at(-1)}"`).setHeader("ETag", etag);
      if (headers["if-none-match"] === etag) response.statusCode = 304;
    }
    const hasBody = ![204, 304].includes(response.statusCode);
    void released.then(() => response.end(hasBody ? `{"version":${service.version}}` : undefined));
  });
  const feed = await startFeed();
  const nowOf = () => nowMs;
  const proxy = await startProxy(stub, {
    routes,
    feedUrls: { things: [feed.url] },
    feedKey,
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
  const fetched = () => stub.received.filter(({ url }) => !url.endsWith(probe));
  return { service, proxy, send, read, passSeconds, fetched, feed: { ...feed, send: announce } };
}

/** A resource whose stored response shows which changes the proxy has received. */
const probe = "/things/probe";

function cacheStatusOf({ headers }: Response): string | undefined {
  return headers
    .get("cache-status")
    ?.replace("tributary; ", "")
    .replace(/ttl=\d+/, "ttl=…");
}

function withReceipt(...writes: readonly ServiceWrite[]): Readonly<Record<string, string>> {
  return { "consistency-token": receipts.write([], writes) };
}

function readReceipt({ headers }: Response): readonly ServiceWrite[] {
  return receipts.read(headers.get("consistency-token") ?? undefined);
}

/** The feed of the service `things`, with a position every 100 ms. */
async function startFeed() {
  const subscribers = new Set<FeedSubscriber>();
  let xmax = 100;
  const positionAt = (xid: number) => ({ epoch, snapshot: parseSnapshot(`${xid}:${xid}:`) });
  const sendAll = (event: FeedEvent) => subscribers.forEach((subscriber) => subscriber.send(event));
  const timer = setInterval(() => sendAll({ kind: "changes", position: positionAt(xmax), groups: [] }), 100);
  const feed: ChangeFeed = {
    subscribe(subscriber) {
      subscribers.add(subscriber);
      subscriber.send({ kind: "reset", position: positionAt(xmax) });
      return () => subscribers.delete(subscriber);
    },
    onCommit() {},
    close: () => Promise.resolve(),
  };
  const { url, close } = await startFeedListener({ feed, host: "127.0.0.1", port: 0, keys: [feedKey] });
  let isOpen = true;
  const stop = async () => {
    clearInterval(timer);
    if (isOpen) await close();
    isOpen = false;
  };
  onTestFinished(stop);
  const stateOf = ({ observed }: Running) => observed.findLast(({ kind }) => kind === "feed-state");
  return {
    url,
    /** The position of a write which the feed has not sent: of the next one, or one of the later ones. */
    next: (ahead = 0): ServiceWrite => ({ service: "things", epoch, xid: xmax + ahead }),
    followedBy: (proxy: Running) => expect.poll(() => stateOf(proxy)).toMatchObject({ state: "up" }),
    stop,
    /** Sends the change of a write. @returns the write. */
    announce(what: readonly string[] | "reset"): ServiceWrite {
      const write = { service: "things", epoch, xid: xmax++ };
      const position = positionAt(xmax);
      sendAll(what === "reset" ? { kind: "reset", position } : { kind: "changes", position, groups: what });
      return write;
    },
  };
}
