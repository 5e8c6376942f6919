import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request as send, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createStandalone } from "./standalone/standalone.ts";
import { listen } from "./testing.ts";

test("the standalone cache forwards every method and body, and stores what it may", async () => {
  const requests: string[] = [];
  const { url } = await startStandalone((request, response) => void respond(request, response));
  const respond: Respond = async (request, response) => {
    const body = await text(request);
    requests.push(`${request.method} ${request.url} ${request.headers.host} ${body.length}`);
    response.writeHead(200, { "Cache-Control": "max-age=60" }).end(`hello ${body.slice(0, 3)}`);
  };
  const host = new URL(url).host;
  expect(await sendTo(url, "PUT", "/a?b=2&a=1", "x".repeat(200_000))).toEqual([200, "hello xxx"]);
  expect(await sendTo(url, "GET", "/a?b=2&a=1")).toEqual([200, "hello "]);
  expect(await sendTo(url, "GET", "/a?b=2&a=1")).toEqual([200, "hello "]);
  expect(await sendTo(url, "GET", "/a?a=1&b=2")).toEqual([200, "hello "]);
  expect(requests).toEqual([`PUT /a?b=2&a=1 ${host} 200000`, `GET /a?b=2&a=1 ${host} 0`, `GET /a?a=1&b=2 ${host} 0`]);
});

test("an unreachable origin is 502", async () => {
  const { url, stopOrigin } = await startStandalone((_request, response) => void response.end());
  await stopOrigin();
  expect(await sendTo(url, "GET", "/a")).toEqual([502, ""]);
});

test("a Location of this origin is invalidated, one of another origin is not", async () => {
  const { url } = await startStandalone((request, response) => {
    const { host } = request.headers;
    const location = request.url === "/x" ? `http://${host}/a#fragment` : "http://elsewhere.example/b";
    if (request.method === "POST") response.writeHead(201, { Location: location }).end();
    else
      response.writeHead(200, { "Cache-Control": "max-age=60", Date: new Date().toUTCString() }).end(String(count++));
  });
  let count = 0;
  const [[, a], [, b]] = [await sendTo(url, "GET", "/a"), await sendTo(url, "GET", "/b")];
  await sendTo(url, "POST", "/x", "1");
  await sendTo(url, "POST", "/y", "1");
  expect((await sendTo(url, "GET", "/a"))[1]).not.toBe(a);
  expect((await sendTo(url, "GET", "/b"))[1]).toBe(b);
});

type Respond = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function startStandalone(origin: RequestListener) {
  const originServer = await listen(origin);
  const standalone = createStandalone({ origin: new URL(originServer.url), nowMs: Date.now });
  onTestFinished(() => standalone.close());
  const { url } = await listen(standalone.handler);
  return { url, stopOrigin: originServer.stop };
}

function sendTo(url: string, method: string, path: string, body?: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const outgoing = send(url + path, { method, agent: false });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      text(incoming).then((body) => resolve([incoming.statusCode ?? 0, body]), reject);
    });
    outgoing.end(body);
  });
}

test("the process caches the configured origin until SIGTERM", async () => {
  let count = 0;
  const origin = await listen((_request, response) => {
    response.writeHead(200, { "Cache-Control": "max-age=60" }).end(String(++count));
  });
  const main = startMain({ PORT: "0", ORIGIN: origin.url });
  const [line] = (await once(main.stdout ?? main, "data")) as [Buffer];
  const url = `http://127.0.0.1:${/port (\d+)/.exec(line.toString())?.[1]}`;
  for (let i = 0; i < 2; i++) expect(await sendTo(url, "GET", "/a")).toEqual([200, "1"]);
  main.kill("SIGTERM");
  expect(await once(main, "exit")).toEqual([0, null]);
});

test("without its variables the process reports them and does not start", async () => {
  const main = startMain({});
  const errors = main.stderr ? await text(main.stderr) : "";
  expect(errors).toMatch(/PORT is required[\s\S]*ORIGIN is required/);
});

function startMain(variables: Readonly<Record<string, string>>): ChildProcess {
  const file = new URL("./standalone/main.ts", import.meta.url).pathname;
  const main = spawn(process.execPath, [file], { env: variables });
  onTestFinished(() => void main.kill("SIGKILL"));
  return main;
}
