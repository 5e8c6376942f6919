import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { idleMsMax } from "@tributary/kit/upstream/undici-transport";
import { expect, test } from "vitest";
import { holdResponse, reset, respondOk, start } from "../../../kit/test/upstream/replica.ts";
import { open, outcomeOf, read, testBothTransports, toStream } from "./service-client.ts";

/** More than the buffers of both ends of a connection hold. */
const largeBody = Buffer.alloc(20_000_000);

testBothTransports("a response may have any length, and is received no faster than it is read", async (transport) => {
  const size = 32 * 1_048_576;
  const sent = { bytes: 0 };
  const [replica] = await start(1, (response) => {
    const block = Buffer.alloc(65_536);
    const send = () => {
      while (sent.bytes < size) {
        sent.bytes += block.length;
        if (!response.write(block)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
  });
  const { client } = open([replica.url]);
  const { body } = await client[transport](read);
  let before = -1;
  await expect.poll(() => before === (before = sent.bytes)).toBe(true);
  expect(sent.bytes).toBeLessThan(size / 2);
  expect((await buffer(toStream(body))).length).toBe(size);
});

testBothTransports(
  "a response may take longer than the idle timeout, after which an idle connection is closed",
  async (transport) => {
    const sockets = new Map<string, Socket>();
    const [replica] = await start(1, (response, { url = "", socket }) => {
      sockets.set(url, socket);
      setTimeout(() => response.end("ok"), url === "/slow" ? idleMsMax + 300 : 0);
    });
    const { client } = open([replica.url]);
    const slow = outcomeOf(client[transport]({ ...read, target: "/slow" }));
    expect(await outcomeOf(client[transport](read))).toBe("200 ok");
    const startedMs = performance.now();
    const idle = sockets.get("/a");
    if (idle?.closed === false) await once(idle, "close");
    // Closed by the client: the replica would keep it open for 5 s.
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    expect(await slow).toBe("200 ok");
    expect(await outcomeOf(client[transport](read))).toBe("200 ok");
  },
);

testBothTransports("headers of the client's connection do not reach the service", async (transport) => {
  const { replica, seen } = await startRecording();
  const { client } = open([replica.url]);
  const hopByHop = ["Connection", "keep-alive, Cookie", "Cookie", "mine", "TE", "trailers", "Host", "evil.example"];
  await outcomeOf(client[transport]({ ...read, headers: [...hopByHop, "Accept", "a", "Expect", "100-continue"] }));
  expect(seen[0]).toMatchObject({ accept: "a", host: `127.0.0.1:${replica.port}` });
  for (const name of ["cookie", "te", "expect"]) expect(Object.keys(seen[0] ?? {})).not.toContain(name);
});

testBothTransports("a header may have the name of a member of every object, and be repeated", async (transport) => {
  const { replica, seen } = await startRecording();
  const { client } = open([replica.url]);
  const odd = ["__proto__", "x", "constructor", "a", "Constructor", "b", "toString", "c"];
  expect(await outcomeOf(client[transport]({ ...read, headers: odd }))).toBe("200 ok");
  expect(seen[0]).toMatchObject({ constructor: "a, b", tostring: "c" });
});

test("each attempt sends the remaining time, whatever the client sent", async () => {
  const { replica, seen } = await startRecording((response, request) =>
    (seen.length < 3 ? reset : respondOk)(response, request),
  );
  const clock = { nowMs: 0 };
  const { client } = open([replica.url], { timeoutMs: 8_000, nowMs: () => (clock.nowMs += 100) });
  expect(await outcomeOf(client.sendByUndici({ ...read, headers: ["X-Deadline-Ms", "999999"] }))).toBe("200 ok");
  const times = seen.map((headers) => Number(headers["x-deadline-ms"]));
  expect(times).toHaveLength(3);
  expect(Math.max(...times)).toBeLessThan(8_000);
  expect(times).toEqual([...new Set(times)].sort((a, b) => b - a));
});

testBothTransports("a body that breaks off fails, and does not end", async (transport) => {
  const [replica] = await start(1, (response) => {
    response.writeHead(200, { "content-length": "70000" }).write("half");
    setImmediate(() => response.socket?.end());
  });
  const { client } = open([replica.url]);
  const body = toStream((await client[transport](read)).body);
  await expect(text(body)).rejects.toThrow();
  expect(body.errored).toBeInstanceOf(Error);
});

testBothTransports("a request without a response ends at its deadline, at the service too", async (transport) => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { client } = open([replica.url], { timeoutMs: 200 });
  const outcome = outcomeOf(client[transport](read));
  const closed = once(await arrived, "close");
  expect(await outcome).toBe("GATEWAY_TIMEOUT");
  await closed;
  expect(replica.requests).toBe(1);
});

testBothTransports(
  "a body that is too slow is cut at the deadline, and counts as a failure of the replica",
  async (transport) => {
    const [dripping, other] = await start(2);
    dripping.respond = (response) => {
      const timer = setInterval(() => response.write("x"), 5);
      response.once("close", () => clearInterval(timer));
    };
    const { client, seen } = open([dripping.url, other.url], { timeoutMs: 1_000, random: () => 0 });
    for (const _ of [1, 2, 3, 4, 5]) expect(await outcomeOf(client[transport](read))).toBe("GATEWAY_TIMEOUT");
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected"]);
  },
);

testBothTransports(
  "a slow reader has longer than the service, then the body is cut; that is no failure of the replica",
  async (transport) => {
    const [replica, other] = await start(2, (response) => void response.end(largeBody));
    const { client, seen } = open([replica.url, other.url], {
      timeoutMs: 1_000,
      readTimeoutMs: 1_200,
      random: () => 0,
    });
    const errors: Promise<unknown>[] = [];
    for (let i = 0; i < 12; i++) {
      const body = toStream((await client[transport](read)).body);
      errors.push(new Promise((resolve) => body.once("close", () => resolve(body.errored))));
    }
    for (const error of await Promise.all(errors)) expect(error).toMatchObject({ code: "GATEWAY_TIMEOUT" });
    expect(seen).toEqual([]);
  },
);

testBothTransports(
  "after the service's deadline, a slow reader gets the whole body, and an abort still closes it",
  async (transport) => {
    const [replica] = await start(1, (response) => void response.end(largeBody));
    const { client } = open([replica.url], { timeoutMs: 1_000 });
    const caller = new AbortController();
    const whole = (await client[transport](read)).body;
    const aborted = toStream((await client[transport]({ ...read, signal: caller.signal })).body);
    await sleep(1_050); // The service's deadline has to pass.
    expect((await buffer(toStream(whole))).length).toBe(20_000_000);
    const closed = new Promise((resolve) => aborted.once("close", resolve));
    caller.abort();
    await closed;
    expect([aborted.readableEnded, aborted.errored]).toEqual([false, null]);
  },
);

testBothTransports("an abort closes the request to the service, before its head and after it", async (transport) => {
  const [replica] = await start(1);
  const { client, seen } = open([replica.url], { requestsMax: 1 });
  for (const hasHead of [false, true]) {
    const caller = new AbortController();
    const arrived = holdResponse(replica);
    const sentRequest = client[transport]({ ...read, signal: caller.signal });
    const response = await arrived;
    const closed = once(response, "close");
    if (hasHead) {
      response.write("half");
      const body = toStream((await sentRequest).body);
      const bodyClosed = new Promise((resolve) => body.once("close", resolve));
      caller.abort();
      await bodyClosed;
      expect([body.readableEnded, body.errored]).toEqual([false, null]);
    } else {
      caller.abort();
      await expect(sentRequest).rejects.toThrow("The client disconnected");
    }
    await closed;
  }
  expect(seen).toEqual([]);
});

testBothTransports("aborted requests are no failures of the replica", async (transport) => {
  const [slow, other] = await start(2);
  const { client, seen } = open([slow.url, other.url], { random: () => 0 });
  for (let i = 0; i < 6; i++) {
    const caller = new AbortController();
    const arrived = holdResponse(slow);
    const sentRequest = client[transport]({ ...read, signal: caller.signal });
    await arrived;
    caller.abort();
    await expect(sentRequest).rejects.toThrow("The client disconnected");
  }
  expect([slow.requests, other.requests, seen]).toEqual([6, 0, []]);
});

testBothTransports("a request that is aborted before it starts is not sent", async (transport) => {
  const [replica] = await start(1);
  const { client } = open([replica.url]);
  const sent = client[transport]({ ...read, signal: AbortSignal.abort() });
  await expect(sent).rejects.toThrow("The client disconnected");
  expect(replica.requests).toBe(0);
});

testBothTransports(
  "a body that its reader destroys is no failure of the replica, and ends the request",
  async (transport) => {
    const replicas = await start(2, (response) => void response.write("some of it"));
    const { client, seen } = open(
      replicas.map(({ url }) => url),
      { requestsMax: 1 },
    );
    for (let i = 0; i < 12; i++) {
      const body = toStream((await client[transport](read)).body);
      const closed = new Promise((resolve) => body.once("close", resolve));
      body.destroy();
      await closed;
    }
    expect(seen).toEqual([]);
  },
);

test("both transports together have at most requestsMax requests in flight", async () => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { client } = open([replica.url], { requestsMax: 1 });
  const held = outcomeOf(client.sendByMiddleware(read));
  const response = await arrived;
  for (const send of [client.sendByMiddleware, client.sendByUndici])
    await expect(send(read)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  response.end("ok");
  expect(await held).toBe("200 ok");
  replica.respond = respondOk;
  for (const send of [client.sendByMiddleware, client.sendByUndici]) expect(await outcomeOf(send(read))).toBe("200 ok");
  expect(replica.requests).toBe(3);
});

testBothTransports("a hundred requests leave no listener and no warning", async (transport) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  const [replica] = await start(1);
  const { client } = open([replica.url]);
  for (let i = 0; i < 100; i++) await outcomeOf(client[transport](read));
  process.off("warning", note);
  expect(warnings).toEqual([]);
});

async function startRecording(respond = respondOk) {
  const seen: IncomingMessage["headers"][] = [];
  const [replica] = await start(1, (response, request) => {
    seen.push(request.headers);
    respond(response, request);
  });
  return { replica, seen };
}
