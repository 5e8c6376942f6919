import { expect, test } from "vitest";
import { sendRaw, startProxy, startStub } from "./testing.ts";

// Informational responses (RFC 9110, section 15.2) of a service whose routes are not cached.

const get = "GET /v1/things/1 HTTP/1.1\r\nHost: api.example";

async function startHinting() {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "no-store");
    response.writeProcessing();
    response.writeEarlyHints({
      link: ["</a.css>; rel=preload; as=style", "</b.js>; rel=preload"],
      "x-internal": "secret",
    });
    response.end('{"ok":true}');
  });
  return startProxy(stub);
}

const interim = [
  "HTTP/1.1 102 Processing\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style, </b.js>; rel=preload\r\n\r\n",
];

test("the client of a write gets 102, and 103 with its links, before the final response", async () => {
  const { port } = await startHinting();
  const head =
    "PATCH /v1/things/1 HTTP/1.1\r\nHost: api.example\r\nContent-Type: application/json\r\nContent-Length: 2";
  const text = await sendRaw(port, head, "{}");
  expect(text.startsWith(`${interim.join("")}HTTP/1.1 200 OK\r\n`)).toBe(true);
  expect(text).not.toContain("secret");
});

test("the client of a read gets them once the cache knows that the response is not shared", async () => {
  const { port } = await startHinting();
  expect(await sendRaw(port, get)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect((await sendRaw(port, get)).startsWith(interim.join(""))).toBe(true);
});

test("a client of HTTP/1.0 gets no informational response", async () => {
  const { port } = await startHinting();
  await sendRaw(port, get);
  expect(await sendRaw(port, "GET /v1/things/1 HTTP/1.0\r\nHost: api.example")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test("a 103 with an invalid Link is dropped", async () => {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "no-store");
    response.socket?.write("HTTP/1.1 103 Early Hints\r\nLink: nonsense\r\n\r\n");
    response.end('{"ok":true}');
  });
  const { port } = await startProxy(stub);
  await sendRaw(port, get);
  expect(await sendRaw(port, get)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});
