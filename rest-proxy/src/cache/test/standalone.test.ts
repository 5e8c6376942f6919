import {
  createServer,
  type IncomingMessage,
  request as send,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createStandalone } from "../standalone/standalone.ts";

test("alone it passes every method and body, and keeps what may be kept", async () => {
  const seen: string[] = [];
  const { url } = await standAlone((request, response) => void greet(request, response));
  const greet: Greet = async (request, response) => {
    const body = await text(request);
    seen.push(`${request.method} ${request.url} ${request.headers.host} ${body.length}`);
    response.writeHead(200, { "Cache-Control": "max-age=60" }).end(`hello ${body.slice(0, 3)}`);
  };
  const host = new URL(url).host;
  expect(await ask(url, "PUT", "/a?b=2&a=1", "x".repeat(200_000))).toEqual([200, "hello xxx"]);
  expect(await ask(url, "GET", "/a?b=2&a=1")).toEqual([200, "hello "]);
  expect(await ask(url, "GET", "/a?b=2&a=1")).toEqual([200, "hello "]);
  expect(await ask(url, "GET", "/a?a=1&b=2")).toEqual([200, "hello "]);
  expect(seen).toEqual([`PUT /a?b=2&a=1 ${host} 200000`, `GET /a?b=2&a=1 ${host} 0`, `GET /a?a=1&b=2 ${host} 0`]);
});

test("an origin that is not there is 502", async () => {
  const { url, stopOrigin } = await standAlone((_request, response) => void response.end());
  await stopOrigin();
  expect(await ask(url, "GET", "/a")).toEqual([502, ""]);
});

test("a Location of this origin is forgotten, one of another is left alone", async () => {
  const { url } = await standAlone((request, response) => {
    const { host } = request.headers;
    const location = request.url === "/x" ? `http://${host}/a#there` : "http://elsewhere.example/b";
    if (request.method === "POST") response.writeHead(201, { Location: location }).end();
    else
      response.writeHead(200, { "Cache-Control": "max-age=60", Date: new Date().toUTCString() }).end(String(count++));
  });
  let count = 0;
  const [[, a], [, b]] = [await ask(url, "GET", "/a"), await ask(url, "GET", "/b")];
  await ask(url, "POST", "/x", "1");
  await ask(url, "POST", "/y", "1");
  expect((await ask(url, "GET", "/a"))[1]).not.toBe(a);
  expect((await ask(url, "GET", "/b"))[1]).toBe(b);
});

type Greet = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function standAlone(origin: RequestListener) {
  const behind = await listen(origin);
  const standalone = createStandalone({ origin: new URL(behind.url), nowMs: Date.now });
  onTestFinished(() => standalone.close());
  const { url } = await listen(standalone.handler);
  return { url, stopOrigin: behind.stop };
}

async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function ask(url: string, method: string, path: string, body?: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const outgoing = send(url + path, { method, agent: false });
    outgoing.once("error", reject);
    outgoing.once("response", (answer) => {
      text(answer).then((whole) => resolve([answer.statusCode ?? 0, whole]), reject);
    });
    outgoing.end(body);
  });
}
