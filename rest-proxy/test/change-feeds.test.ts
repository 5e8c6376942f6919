import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { changed, confirmed, hit, missed, startProxyWithFeed } from "./proxy-with-feed.ts";
import { listen } from "./testing.ts";

const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

describe("a change feed", () => {
  test("invalidates the responses of its service with a changed group", async () => {
    const { feed, service, read } = await startProxyWithFeed();
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
    const { feed, read } = await startProxyWithFeed();
    await Promise.all([read("/things/7"), read("/things/8"), read("/parts/7")]);
    await feed.send("reset");
    expect([await read("/things/7"), await read("/things/8"), await read("/parts/7")]).toEqual([missed, missed, hit]);
  });

  test("that is down makes entries of its service older than two seconds be validated, and none be sent while it is refreshed", async () => {
    const { feed, read, passSeconds } = await startProxyWithFeed();
    await Promise.all([read("/things/7"), read("/parts/7")]);
    await feed.stop();
    passSeconds(1);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([hit, hit]);
    passSeconds(1);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([confirmed, hit]);
    passSeconds(61);
    expect([await read("/things/7"), await read("/parts/7")]).toEqual([confirmed, "hit; ttl=-3"]);
  });

  test("ends a 404, which clients without a token share for a second", async () => {
    const { feed, service, read, send, passSeconds, fetched } = await startProxyWithFeed();
    service.status = 404;
    const held = service.hold();
    const clients = Array.from({ length: 40 }, () => send("/things/7"));
    await expect.poll(() => fetched().length).toBe(1);
    held.release();
    const responses = await Promise.all(clients);
    expect(responses.map(({ status }) => status)).toEqual(Array(40).fill(404));
    expect(fetched()).toHaveLength(1);
    for (const { headers } of responses) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("tributary-cache-control")).toBeNull();
      expect(headers.get("x-request-id")).not.toBeNull();
    }
    expect(new Set(responses.map(({ headers }) => headers.get("x-request-id"))).size).toBe(40);
    expect(await read("/things/7")).toBe(hit);
    await Promise.all(["a", "b"].map((token) => read("/things/7", { authorization: `Bearer ${token}` })));
    expect(fetched()).toHaveLength(3);
    passSeconds(1);
    expect(await read("/things/7")).toBe("fwd=stale; fwd-status=404; stored");
    service.status = 200;
    expect(await read("/things/7")).toBe(hit);
    await feed.send(["id:7"]);
    expect(await read("/things/7")).toBe(missed);
  });

  test("lets clients share a 404 although the clock of the service is behind by more than that second", async () => {
    const { service, read, fetched } = await startProxyWithFeed();
    Object.assign(service, { status: 404, behindMs: 1_500 });
    await read("/things/7");
    for (let i = 0; i < 10; i++) expect(await read("/things/7")).toBe(hit);
    expect(fetched()).toHaveLength(1);
  });

  test("that announces a change while a 404 is on its way prevents its use", async () => {
    const { feed, service, send, fetched, read } = await startProxyWithFeed();
    service.status = 404;
    const held = service.hold();
    const before = send("/things/7");
    await expect.poll(() => fetched().length).toBe(1);
    service.hold().release();
    service.status = 200;
    await feed.send(["id:7"]);
    expect((await send("/things/7")).status).toBe(200);
    held.release();
    expect((await before).status).toBe(404);
    expect(await read("/things/7")).toBe(hit);
  });

  test("is optional: without one, responses are used by their own freshness, and invalidated by the responses to writes", async () => {
    const { read, send, passSeconds } = await startProxyWithFeed({ feedUrls: {} });
    expect(await read("/things/7")).toBe(missed);
    passSeconds(30);
    expect(await read("/things/7")).toBe(hit);
    await send("/things/7", {}, "PATCH");
    expect([await read("/things/7"), await read("/things/7")]).toEqual([confirmed, hit]);
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
  const { read, passSeconds } = await startProxyWithFeed({ feedUrls: { things: [url] } });
  await expect.poll(() => connections).toBeGreaterThan(1);
  await expect.poll(() => read("/things/7")).toBe(hit);
  await expect
    .poll(() => {
      passSeconds(3);
      return read("/things/7");
    })
    .toBe(confirmed);
});
