import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type ProxySettings, route, type Running, speak, startProxy, startStub } from "./testing.ts";

export const head = "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n";

export const routes = [
  route("getThing", "GET", "/things/:id", { cache: "public", versions: [1, 2] }),
  route("listThings", "GET", "/things", { cache: "public", query: ["limit", "search"] }),
  route("createThing", "POST", "/things", {}),
  route("getOwn", "GET", "/things/:id/own", {}),
];

/** 1970-01-12; the clock of whoever keeps copies. */
export const clock = { atMs: 1_000_000_000 };

export interface Asked extends Running {
  /** Requests that Node's server has handed on. */
  readonly byNode: () => number;
  readonly asked: () => number;
}

export async function start(settings: ProxySettings = {}, text = "x".repeat(1_200)): Promise<Asked> {
  const stub = await startStub(({ url }, response) => {
    const isKept = !url.endsWith("/own") && !url.includes("search=never");
    response.setHeader("Date", new Date(clock.atMs).toUTCString());
    response.setHeader("Last-Modified", new Date(clock.atMs - 60_000).toUTCString());
    response.setHeader("Cache-Control", isKept ? "public, max-age=100" : "private, no-cache");
    response.setHeader("ETag", `"${url.length}"`);
    const body = JSON.stringify({ url, text });
    setTimeout(() => response.end(body), url.endsWith("/own") ? 50 : 0);
  });
  const retirements = [{ version: 1, deprecatedAtMs: 1_000, sunsetAtMs: 4_000_000_000_000 }];
  const proxy = await startProxy(stub, { routes, retirements, nowMs: () => clock.atMs, ...settings });
  let byNode = 0;
  proxy.server.on("request", () => byNode++);
  return { ...proxy, byNode: () => byNode, asked: () => stub.seen.length };
}

/** A connection on which one request goes out at a time. */
export async function converse(port: number) {
  const { socket, text } = await speak(port);
  // What is written by itself is sent by itself.
  socket.setNoDelay();
  let read = 0;

  /** The whole of the next answer: its head, and as many bytes as that says. */
  async function next(hasBody = true): Promise<string> {
    for (;;) {
      const rest = text().slice(read);
      const head = rest.slice(0, rest.indexOf("\r\n\r\n") + 4);
      const length = hasBody ? Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0) : 0;
      if (head.length > 4 && rest.length >= head.length + length) {
        read += head.length + length;
        return rest.slice(0, head.length + length);
      }
      if (socket.destroyed || socket.readableEnded) throw new Error(`The connection ended after ${rest}`);
      await sleep(1);
    }
  }

  return {
    socket,
    /** What came beyond the answers that were read. */
    rest: () => text().slice(read),
    async ask(bytes: string, hasBody = true): Promise<string> {
      socket.write(bytes, "latin1");
      return next(hasBody);
    },
    next,
  };
}

/** A conversation that has come so far that Node is not asked any more: a miss, a copy, and one more to be sure where Node's parser stands. */
export async function converseWell(port: number) {
  const line = await converse(port);
  for (let at = 0; at < 3; at++) expect(await line.ask(`${head}\r\n`)).toContain("200 OK");
  return line;
}
