import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { idleMsMax } from "@tributary/kit/upstream/undici-transport";
import { describe, expect, test } from "vitest";
import type { OriginFetch } from "../../src/cache/cache-request.ts";
import type { ServiceRequest } from "../../src/forward/client.ts";
import {
  holdResponse,
  open,
  outcomeOf,
  read,
  reset,
  respondOk,
  startReplica,
  startTwo,
  textOf,
  toStream,
  transports,
  write,
} from "./replicas.ts";

/** More than the buffers of both ends of a connection hold. */
const largeBody = Buffer.alloc(20_000_000);

describe.each(transports)("%s", (transport) => {
  test("a response may have any length, and is received no faster than it is read", async () => {
    const size = 64 * 1_048_576;
    const sent = { bytes: 0 };
    const replica = await startReplica((response) => {
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

  test("a response may take longer than the idle timeout, and an idle connection is closed", async () => {
    const sockets = new Set<Socket>();
    let isFast = false;
    const replica = await startReplica((response, { socket }) => {
      sockets.add(socket);
      setTimeout(() => response.end("ok"), isFast ? 0 : idleMsMax + 300);
    });
    const { client } = open([replica.url]);
    const send = () => outcomeOf(client[transport](read));
    expect(await send()).toBe("200 ok");
    isFast = true;
    // Closed by the proxy: the service would keep it open for 5 s.
    await Promise.all([...sockets].map((socket) => once(socket, "close")));
    const before = sockets.size;
    expect([await send(), sockets.size]).toEqual(["200 ok", before + 1]);
  });

  test("repeated headers are kept; those of the connection and those not for clients are removed", async () => {
    const sentHeaders = {
      Connection: "keep-alive, x-internal",
      "X-Internal": "secret",
      "Keep-Alive": "timeout=1234",
      Server: "inside/1.0",
      "X-Request-Id": "theirs",
      Link: ["<a>", "<b>"],
      ETag: '"7"',
    };
    const replica = await startReplica((response) => void response.writeHead(201, sentHeaders).end("{}"));
    const { client } = open([replica.url]);
    const { status, headers, body } = await client[transport](read);
    expect([status, await textOf(body)]).toEqual([201, "{}"]);
    const forwarded = headers.filter((_, at) => !/^(?:date|content-length)$/i.test(headers[at - (at % 2)] ?? ""));
    expect(forwarded.map((value, at) => (at % 2 === 0 ? value.toLowerCase() : value))).toEqual([
      ...["link", "<a>", "link", "<b>"],
      ...["etag", '"7"'],
    ]);
  });

  test("headers of the client's connection do not reach the service", async () => {
    const { replica, seen } = await startRecording();
    const { client } = open([replica.url]);
    const hopByHop = ["Connection", "keep-alive, Cookie", "Cookie", "mine", "TE", "trailers", "Host", "evil.example"];
    await outcomeOf(client[transport]({ ...read, headers: [...hopByHop, "Accept", "a", "Expect", "100-continue"] }));
    expect(seen[0]).toMatchObject({ accept: "a", host: `127.0.0.1:${replica.port}` });
    for (const name of ["cookie", "te", "expect"]) expect(Object.keys(seen[0] ?? {})).not.toContain(name);
  });

  test("a header may have the name of a member of every object, and be repeated", async () => {
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
    expect(await outcomeOf(client[transport]({ ...read, headers: ["X-Deadline-Ms", "999999"] }))).toBe("200 ok");
    const times = seen.map((headers) => Number(headers["x-deadline-ms"]));
    expect(times).toHaveLength(3);
    expect(Math.max(...times)).toBeLessThan(8_000);
    expect(times).toEqual([...new Set(times)].sort((a, b) => b - a));
  });

  test("a body that breaks off fails, and does not end", async () => {
    const replica = await startReplica((response) => {
      response.writeHead(200, { "content-length": "70000" }).write("half");
      setImmediate(() => response.socket?.end());
    });
    const { client } = open([replica.url]);
    const body = toStream((await client[transport](read)).body);
    await expect(text(body)).rejects.toThrow();
    expect(body.errored).toBeInstanceOf(Error);
  });

  test("with a target, the client is an origin for the cache", async () => {
    const replica = await startReplica((response, request) => void response.end(request.url));
    const { client } = open([replica.url]);
    const fetchOrigin: OriginFetch = (request) =>
      client[transport]({ ...request, target: "/rest/v1/a?b=c", body: undefined });
    expect(await outcomeOf(fetchOrigin({ method: "GET", headers: [], signal: read.signal }))).toBe(
      "200 /rest/v1/a?b=c",
    );
  });

  test("a response to HEAD and a 304 have no body", async () => {
    const replica = await startReplica((response, request) => {
      if (request.method === "HEAD") response.writeHead(200, { "content-length": "5" }).end();
      else response.writeHead(304, { etag: '"7"' }).end();
    });
    const { client } = open([replica.url]);
    expect(await outcomeOf(client[transport]({ ...read, method: "HEAD" }))).toBe("200 ");
    expect(await outcomeOf(client[transport](read))).toBe("304 ");
  });

  test("informational responses are reported, and are not the final response", async () => {
    const replica = await startReplica((response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      response.end("ok");
    });
    const information: unknown[] = [];
    const onInformation: ServiceRequest["onInformation"] = (status, { link }) => void information.push(status, link);
    const { client } = open([replica.url]);
    expect(await outcomeOf(client[transport]({ ...read, onInformation }))).toBe("200 ok");
    expect(information).toEqual([103, "</a>; rel=preload"]);
  });

  test("a request without a response ends at its deadline, at the service too", async () => {
    const replica = await startReplica();
    const arrived = holdResponse(replica);
    const { client } = open([replica.url], { timeoutMs: 300 });
    const outcome = outcomeOf(client[transport](read));
    const closed = once(await arrived, "close");
    expect(await outcome).toBe("GATEWAY_TIMEOUT");
    await closed;
    expect(replica.requests).toBe(1);
  });

  test("a body that is too slow is cut at the deadline, and counts as a failure of the replica", async () => {
    const [dripping, other] = await startTwo();
    dripping.respond = (response) => {
      const timer = setInterval(() => response.write("x"), 5);
      response.once("close", () => clearInterval(timer));
    };
    const { client, seen } = open([dripping.url, other.url], { timeoutMs: 300, random: () => 0 });
    for (const _ of [1, 2, 3, 4, 5]) expect(await outcomeOf(client[transport](read))).toBe("GATEWAY_TIMEOUT");
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected"]);
  });

  test("a slow reader has longer than the service, then the body is cut; that is no failure of the replica", async () => {
    const [replica, other] = await startTwo((response) => void response.end(largeBody));
    const { client, seen } = open([replica.url, other.url], {
      timeoutMs: 2_000,
      readTimeoutMs: 2_100,
      random: () => 0,
    });
    const errors: Promise<unknown>[] = [];
    for (let i = 0; i < 12; i++) {
      const body = toStream((await client[transport](read)).body);
      errors.push(new Promise((resolve) => body.once("close", () => resolve(body.errored))));
    }
    for (const error of await Promise.all(errors)) expect(error).toMatchObject({ code: "GATEWAY_TIMEOUT" });
    expect(seen).toEqual([]);
  });

  test("a reader within its own deadline gets the whole body after the service's deadline", async () => {
    const replica = await startReplica((response) => void response.end(largeBody));
    const { client } = open([replica.url], { timeoutMs: 2_000 });
    const { body } = await client[transport](read);
    await new Promise((resolve) => setTimeout(resolve, 2_050)); // The service's deadline has to pass.
    expect((await buffer(toStream(body))).length).toBe(20_000_000);
  });

  test("an abort closes the request to the service, before its head and after it", async () => {
    const replica = await startReplica();
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

  test("aborted requests are no failures of the replica", async () => {
    const [slow, other] = await startTwo();
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

  test("an abort closes the body while it waits for a slow reader", async () => {
    const replica = await startReplica((response) => void response.end(largeBody));
    const { client } = open([replica.url], { timeoutMs: 2_000 });
    const caller = new AbortController();
    const body = toStream((await client[transport]({ ...read, signal: caller.signal })).body);
    await new Promise((resolve) => setTimeout(resolve, 2_050)); // The service's deadline has to pass.
    const closed = new Promise((resolve) => body.once("close", resolve));
    caller.abort();
    await closed;
    expect([body.readableEnded, body.errored]).toEqual([false, null]);
  });

  test("a request that is aborted before it starts is not sent", async () => {
    const replica = await startReplica();
    const { client } = open([replica.url]);
    await expect(client[transport]({ ...read, signal: AbortSignal.abort() })).rejects.toThrow(
      "The client disconnected",
    );
    expect(replica.requests).toBe(0);
  });

  test("a body that its reader destroys is no failure of the replica, and ends the request", async () => {
    const replicas = await startTwo((response) => void response.write("some of it"));
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
  });

  test("a response that switches protocols, or has a status that HTTP does not define, is a bad gateway", async () => {
    const replica = await startReplica();
    const { client } = open([replica.url]);
    replica.respond = (response) =>
      void response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n");
    expect(await outcomeOf(client[transport](read))).toBe("BAD_GATEWAY");
    replica.respond = (response) => void response.socket?.end("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}");
    expect(await outcomeOf(client[transport](write))).toBe("BAD_GATEWAY");
  });
});

test("both transports together have at most requestsMax requests in flight", async () => {
  const replica = await startReplica();
  const arrived = holdResponse(replica);
  const { client } = open([replica.url], { requestsMax: 1 });
  const held = outcomeOf(client.sendByMiddleware(read));
  const response = await arrived;
  for (const transport of transports)
    await expect(client[transport](read)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  response.end("ok");
  expect(await held).toBe("200 ok");
  replica.respond = (response) => void response.end("ok");
  for (const transport of transports) expect(await outcomeOf(client[transport](read))).toBe("200 ok");
  expect(replica.requests).toBe(3);
});

test("a thousand requests leave no listener and no warning", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  const replica = await startReplica();
  const { client } = open([replica.url]);
  for (let i = 0; i < 1_000; i++) await outcomeOf(client[i % 2 === 0 ? "sendByMiddleware" : "sendByUndici"](read));
  process.off("warning", note);
  expect(warnings).toEqual([]);
});

async function startRecording(respond = respondOk) {
  const seen: IncomingMessage["headers"][] = [];
  const replica = await startReplica((response, request) => {
    seen.push(request.headers);
    respond(response, request);
  });
  return { replica, seen };
}

test("a short response that breaks off is fetched from another replica by undici, and fails if no replica sends it whole", async () => {
  const breakOff = (response: ServerResponse) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const [broken, other] = await startTwo();
  broken.respond = breakOff;
  const { client } = open([broken.url, other.url], { random: () => 0 });
  expect(await outcomeOf(client.sendByUndici(read))).toBe("200 ok");
  expect([broken.requests, other.requests]).toEqual([1, 1]);
  other.respond = breakOff;
  expect(await outcomeOf(client.sendByUndici(read))).toBe("BAD_GATEWAY");
});
