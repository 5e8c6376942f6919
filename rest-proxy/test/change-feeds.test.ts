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
