import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { idleMsMax } from "@tributary/kit/upstream/pool";
import { describe, expect, test } from "vitest";
import type { OriginFetch } from "../../src/cache/origin.ts";
import {
  answerOk,
  open,
  outcomeOf,
  read,
  reset,
  silence,
  startReplica,
  startTwo,
  textOf,
  toStream,
  ways,
  write,
} from "./asking.ts";

describe.each(ways)("%s", (way) => {
  test("an answer is of any length, and comes no faster than it is read", async () => {
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
    const { passage } = open([replica.url]);
    const { body } = await passage[way](read);
    let before = -1;
    await expect.poll(() => before === (before = sent.bytes)).toBe(true);
    expect(sent.bytes).toBeLessThan(size / 2);
    expect((await buffer(toStream(body))).length).toBe(size);
  });

  test("an answer may take longer than a connection may idle, and an idle connection is not kept", async () => {
    const sockets = new Set<Socket>();
    let quick = false;
    const replica = await startReplica((response, { socket }) => {
      sockets.add(socket);
      setTimeout(() => response.end("ok"), quick ? 0 : idleMsMax + 300);
    });
    const { passage } = open([replica.url]);
    const ask = () => outcomeOf(passage[way](read));
    expect(await ask()).toBe("200 ok");
    quick = true;
    // Closed by the proxy: the service keeps it for five seconds.
    await Promise.all([...sockets].map((socket) => once(socket, "close")));
    const before = sockets.size;
    expect([await ask(), sockets.size]).toEqual(["200 ok", before + 1]);
  });

  test("an answer keeps its repeated headers, and loses what was for one connection or is not for clients", async () => {
    const told = {
      Connection: "keep-alive, x-internal",
      "X-Internal": "secret",
      "Keep-Alive": "timeout=1234",
      Server: "inside/1.0",
      "X-Request-Id": "theirs",
      Link: ["<a>", "<b>"],
      ETag: '"7"',
    };
    const replica = await startReplica((response) => void response.writeHead(201, told).end("{}"));
    const { passage } = open([replica.url]);
    const { status, headers, body } = await passage[way](read);
    expect([status, await textOf(body)]).toEqual([201, "{}"]);
    const own = headers.filter((_, at) => !/^(?:date|content-length)$/i.test(headers[at - (at % 2)] ?? ""));
    expect(own.map((value, at) => (at % 2 === 0 ? value.toLowerCase() : value))).toEqual([
      ...["link", "<a>", "link", "<b>"],
      ...["etag", '"7"'],
    ]);
  });

  test("what a list of headers holds for one connection does not reach the service", async () => {
    const { replica, seen } = await startListening();
    const { passage } = open([replica.url]);
    const forOne = ["Connection", "keep-alive, Cookie", "Cookie", "mine", "TE", "trailers", "Host", "evil.example"];
    await outcomeOf(passage[way]({ ...read, headers: [...forOne, "Accept", "a", "Expect", "100-continue"] }));
    expect(seen[0]).toMatchObject({ accept: "a", host: `127.0.0.1:${replica.port}` });
    for (const name of ["cookie", "te", "expect"]) expect(Object.keys(seen[0] ?? {})).not.toContain(name);
  });

  test("a header may be called as what every object has, and repeated", async () => {
    const { replica, seen } = await startListening();
    const { passage } = open([replica.url]);
    const odd = ["__proto__", "x", "constructor", "a", "Constructor", "b", "toString", "c"];
    expect(await outcomeOf(passage[way]({ ...read, headers: odd }))).toBe("200 ok");
    expect(seen[0]).toMatchObject({ constructor: "a, b", tostring: "c" });
  });

  test("the service hears how long it has, from us alone, and less at each attempt", async () => {
    const { replica, seen } = await startListening((response, request) =>
      (seen.length < 3 ? reset : answerOk)(response, request),
    );
    const clock = { nowMs: 0 };
    const { passage } = open([replica.url], { timeoutMs: 8_000, nowMs: () => (clock.nowMs += 100) });
    expect(await outcomeOf(passage[way]({ ...read, headers: ["X-Deadline-Ms", "999999"] }))).toBe("200 ok");
    const times = seen.map((headers) => Number(headers["x-deadline-ms"]));
    expect(times).toHaveLength(3);
    expect(Math.max(...times)).toBeLessThan(8_000);
    expect(times).toEqual([...new Set(times)].sort((a, b) => b - a));
  });

  test("a body that breaks off is one that fails, not one that ends", async () => {
    const replica = await startReplica((response) => {
      response.writeHead(200, { "content-length": "70000" }).write("half");
      setImmediate(() => response.socket?.end());
    });
    const { passage } = open([replica.url]);
    const body = toStream((await passage[way](read)).body);
    await expect(text(body)).rejects.toThrow();
    expect(body.errored).toBeInstanceOf(Error);
  });

  test("a cache has it for an origin, once it is said where to", async () => {
    const replica = await startReplica((response, request) => void response.end(request.url));
    const { passage } = open([replica.url]);
    const askOrigin: OriginFetch = (asked) => passage[way]({ ...asked, target: "/rest/v1/a?b=c", body: undefined });
    expect(await outcomeOf(askOrigin({ method: "GET", headers: [], signal: read.signal }))).toBe("200 /rest/v1/a?b=c");
  });

  test("an answer to HEAD and one without content come without a body", async () => {
    const replica = await startReplica((response, request) => {
      if (request.method === "HEAD") response.writeHead(200, { "content-length": "5" }).end();
      else response.writeHead(304, { etag: '"7"' }).end();
    });
    const { passage } = open([replica.url]);
    expect(await outcomeOf(passage[way]({ ...read, method: "HEAD" }))).toBe("200 ");
    expect(await outcomeOf(passage[way](read))).toBe("304 ");
  });

  test("early hints are not the answer", async () => {
    const replica = await startReplica((response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      response.end("ok");
    });
    expect(await outcomeOf(open([replica.url]).passage[way](read))).toBe("200 ok");
  });

  test("a silent service is late, and learns that nobody waits", async () => {
    const replica = await startReplica();
    const silent = silence(replica);
    const { passage } = open([replica.url], { timeoutMs: 300 });
    const outcome = outcomeOf(passage[way](read));
    const closed = once(await silent, "close");
    expect(await outcome).toBe("GATEWAY_TIMEOUT");
    await closed;
    expect(replica.calls).toBe(1);
  });

  test("a body that drips is cut at the deadline, and its replica blamed", async () => {
    const [dripping, other] = await startTwo();
    dripping.answer = (response) => {
      const timer = setInterval(() => response.write("x"), 5);
      response.once("close", () => clearInterval(timer));
    };
    const { passage, seen } = open([dripping.url, other.url], { timeoutMs: 40, random: () => 0 });
    for (const _ of [1, 2, 3, 4, 5]) expect(await outcomeOf(passage[way](read))).toBe("GATEWAY_TIMEOUT");
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected"]);
  });

  test("a reader who holds an answer up has longer than the service, and is cut in the end; no replica is blamed", async () => {
    const [replica, other] = await startTwo((response) => void response.end(Buffer.alloc(20_000_000)));
    const { passage, seen } = open([replica.url, other.url], {
      timeoutMs: 2_000,
      readTimeoutMs: 2_100,
      random: () => 0,
    });
    const readNothing = async () => {
      const body = toStream((await passage[way](read)).body);
      await new Promise((resolve) => body.once("close", resolve));
      return body.errored;
    };
    const errors = await Promise.all(Array.from({ length: 12 }, readNothing));
    for (const error of errors) expect(error).toMatchObject({ code: "GATEWAY_TIMEOUT" });
    expect(seen).toEqual([]);
  });

  test("a reader who is slower than the service's deadline and quicker than their own gets it all", async () => {
    const replica = await startReplica((response) => void response.end(Buffer.alloc(20_000_000)));
    const { passage } = open([replica.url], { timeoutMs: 2_000 });
    const { body } = await passage[way](read);
    await new Promise((resolve) => setTimeout(resolve, 2_050)); // The service's deadline has to pass.
    expect((await buffer(toStream(body))).length).toBe(20_000_000);
  });

  test("a caller that goes takes the request to the service along, before the head and after it", async () => {
    const replica = await startReplica();
    const { passage, seen } = open([replica.url], { requestsMax: 1 });
    for (const hasHead of [false, true]) {
      const caller = new AbortController();
      const arrived = silence(replica);
      const asked = passage[way]({ ...read, signal: caller.signal });
      const response = await arrived;
      const closed = once(response, "close");
      if (hasHead) {
        response.write("half");
        const body = toStream((await asked).body);
        const gone = new Promise((resolve) => body.once("close", resolve));
        caller.abort();
        await gone;
        expect([body.readableEnded, body.errored]).toEqual([false, null]);
      } else {
        caller.abort();
        await expect(asked).rejects.toThrow("Nobody waits");
      }
      await closed;
    }
    expect(seen).toEqual([]);
  });

  test("callers that go are no fault of the replica that they waited for", async () => {
    const [slow, other] = await startTwo();
    const { passage, seen } = open([slow.url, other.url], { random: () => 0 });
    for (let i = 0; i < 6; i++) {
      const caller = new AbortController();
      const arrived = silence(slow);
      const asked = passage[way]({ ...read, signal: caller.signal });
      await arrived;
      caller.abort();
      await expect(asked).rejects.toThrow("Nobody waits");
    }
    expect([slow.calls, other.calls, seen]).toEqual([6, 0, []]);
  });

  test("a caller that goes while its slow reading is waited for takes the answer along", async () => {
    const replica = await startReplica((response) => void response.end(Buffer.alloc(20_000_000)));
    const { passage } = open([replica.url], { timeoutMs: 2_000 });
    const caller = new AbortController();
    const body = toStream((await passage[way]({ ...read, signal: caller.signal })).body);
    await new Promise((resolve) => setTimeout(resolve, 2_050)); // The service's deadline has to pass.
    const closed = new Promise((resolve) => body.once("close", resolve));
    caller.abort();
    await closed;
    expect([body.readableEnded, body.errored]).toEqual([false, null]);
  });

  test("what was aborted before is not sent", async () => {
    const replica = await startReplica();
    const { passage } = open([replica.url]);
    await expect(passage[way]({ ...read, signal: AbortSignal.abort() })).rejects.toThrow("Nobody waits");
    expect(replica.calls).toBe(0);
  });

  test("an answer that its reader does not want is no fault of the replica, and frees its place", async () => {
    const replicas = await startTwo((response) => void response.write("some of it"));
    const { passage, seen } = open(
      replicas.map(({ url }) => url),
      { requestsMax: 1 },
    );
    for (let i = 0; i < 12; i++) {
      const body = toStream((await passage[way](read)).body);
      const closed = new Promise((resolve) => body.once("close", resolve));
      body.destroy();
      await closed;
    }
    expect(seen).toEqual([]);
  });

  test("a service that speaks of another protocol, or with a status that HTTP has not, is down", async () => {
    const replica = await startReplica();
    const { passage } = open([replica.url]);
    replica.answer = (response) =>
      void response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n");
    expect(await outcomeOf(passage[way](read))).toBe("BAD_GATEWAY");
    replica.answer = (response) => void response.socket?.end("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}");
    expect(await outcomeOf(passage[way](write))).toBe("BAD_GATEWAY");
  });
});

test("both ways together have so many requests under way, no more, and room comes back", async () => {
  const replica = await startReplica();
  const arrived = silence(replica);
  const { passage } = open([replica.url], { requestsMax: 1 });
  const held = outcomeOf(passage.passThrough(read));
  const answer = await arrived;
  for (const way of ways)
    await expect(passage[way](read)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  answer.end("ok");
  expect(await held).toBe("200 ok");
  replica.answer = (response) => void response.end("ok");
  for (const way of ways) expect(await outcomeOf(passage[way](read))).toBe("200 ok");
  expect(replica.calls).toBe(3);
});

test("a thousand requests leave no listener behind, and no warning", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on("warning", note);
  const replica = await startReplica();
  const { passage } = open([replica.url]);
  for (let i = 0; i < 1_000; i++) await outcomeOf(passage[i % 2 === 0 ? "passThrough" : "aside"](read));
  process.off("warning", note);
  expect(warnings).toEqual([]);
});

async function startListening(answer = answerOk) {
  const seen: IncomingMessage["headers"][] = [];
  const replica = await startReplica((response, request) => {
    seen.push(request.headers);
    answer(response, request);
  });
  return { replica, seen };
}

test("a short answer that breaks off is asked for again by the pool, and is nobody's answer when nobody has it whole", async () => {
  const breakOff = (response: ServerResponse) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const [broken, other] = await startTwo();
  broken.answer = breakOff;
  const { passage } = open([broken.url, other.url], { random: () => 0 });
  expect(await outcomeOf(passage.aside(read))).toBe("200 ok");
  expect([broken.calls, other.calls]).toEqual([1, 1]);
  other.answer = breakOff;
  expect(await outcomeOf(passage.aside(read))).toBe("BAD_GATEWAY");
});
