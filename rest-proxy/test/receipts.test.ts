import { createReceipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import { writeWritePosition } from "@tributary/kit/feed/position";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { cacheStatusOf, confirmed, hit, missed, startProxyWithFeed } from "./proxy-with-feed.ts";

const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const otherEpoch = "ffffffff-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const receipts = createReceipts(["a key for tests only"]);

describe("a read with a receipt", () => {
  test("gets a stored response if the write has reached the cache", async () => {
    const { feed, read } = await startProxyWithFeed();
    await read("/things/7");
    const written = await feed.send(["id:8"]);
    expect(await read("/things/7", withReceipt(written))).toBe(hit);
  });

  test.each([
    ["does not concern the response", ["id:8"], hit],
    ["concerns the response", ["id:7"], confirmed],
  ])("waits for a write that has not reached the cache, and that %s", async (_, groups, expected) => {
    const readWhileSent = async () => {
      const { feed, read, fetched } = await startProxyWithFeed();
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
    const { feed, service, read, fetched } = await startProxyWithFeed();
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
    const { feed, service, send, fetched } = await startProxyWithFeed();
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
    const { feed, read } = await startProxyWithFeed();
    await Promise.all([read("/things/7"), read("/parts/7")]);
    const request = "fwd=request; fwd-status=304; stored";
    expect(await read("/things/7", withReceipt({ ...feed.next(1), epoch: otherEpoch }))).toBe(request);
    expect(await read("/things/7", withReceipt({ ...feed.next(1), epoch: undefined }))).toBe(request);
    expect(await read("/parts/7", withReceipt({ ...feed.next(1), service: "parts" }))).toBe(request);
    expect(await read("/parts/7", withReceipt({ ...feed.next(1), service: "parts" }))).toBe(hit);
  });

  test("of another service gets what a read without one gets", async () => {
    const { feed, service, read, passSeconds } = await startProxyWithFeed();
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
    const { feed, service, send, passSeconds } = await startProxyWithFeed();
    await send("/things/7");
    service.status = 503;
    passSeconds(61);
    expect((await send("/things/7", withReceipt(feed.next(xidsAhead)))).status).toBe(503);
    await feed.stop();
    expect((await send("/things/7", withReceipt(feed.next(xidsAhead)))).status).toBe(503);
    expect((await send("/things/7")).status).toBe(200);
  });

  test("has no effect on other clients, and gets no receipt", async () => {
    const { feed, send } = await startProxyWithFeed();
    const response = await send("/things/7", withReceipt(feed.next(20)));
    expect(response.headers.get("vary") ?? "").not.toContain("onsistency");
    expect(response.headers.get("consistency-token")).toBeNull();
  });
});

test.each(["GET", "PATCH"])(
  "%s with a receipt that cannot be read is rejected, and not sent to the service",
  async (method) => {
    const { send, fetched } = await startProxyWithFeed();
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
      const { service, send } = await startProxyWithFeed();
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
      const { service, send } = await startProxyWithFeed();
      service.position = position;
      const response = await send("/things/7", {}, "PATCH");
      expect(response.headers.get("consistency-token")).toBeNull();
      expect(response.headers.get("write-position")).toBeNull();
    },
  );

  test("makes the next read with it wait for the feed", async () => {
    const { feed, service, send, read } = await startProxyWithFeed();
    await read("/things/8");
    service.position = writeWritePosition(feed.next());
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
      const { feed, send, fetched } = await startProxyWithFeed();
      await send("/things/7", { ...withReceipt(feed.next(-1)), "write-position": `${epoch}/9` }, method);
      expect(Object.keys(fetched()[0]?.headers ?? {})).not.toContain("consistency-token");
      expect(Object.keys(fetched()[0]?.headers ?? {})).not.toContain("write-position");
    },
  );

  test("a client gets no position and no receipt that a service sends with a read, a 304 or an error", async () => {
    const { feed, service, send } = await startProxyWithFeed();
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
    const { proxy, send } = await startProxyWithFeed();
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

function withReceipt(...writes: readonly ServiceWrite[]): Readonly<Record<string, string>> {
  return { "consistency-token": receipts.write([], writes) };
}

function readReceipt({ headers }: Response): readonly ServiceWrite[] {
  return receipts.read(headers.get("consistency-token") ?? undefined);
}
