import { expect, test } from "vitest";
import { route, startProxy, startStub } from "./testing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = { traceparent: `00-${traceId}-b7ad6b7169203331-00` };
const serviceTraceParent = "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01";
const routes = [route("getThing", "GET", "/things/:id", { cache: "public" }), route("addThing", "POST", "/things", {})];

/** A proxy with a service that responds with another traceparent. */
async function setUp() {
  const stub = await startStub(({ method }, response) => {
    response.setHeader("traceparent", serviceTraceParent);
    if (method === "GET") response.setHeader("Cache-Control", "public, max-age=60").setHeader("ETag", '"7"');
    response.end('{"ok":true}');
  });
  const { url } = await startProxy(stub, { routes });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    fetch(`${url}${path}`, { method, headers });
  return { stub, send };
}

test.each([
  ["a cached response", "GET", "/v1/things/1", {}, 200],
  ["a 304 from the cache", "GET", "/v1/things/1", { "if-none-match": '"7"' }, 304],
  ["a forwarded response", "POST", "/v1/things", {}, 200],
  ["a problem", "GET", "/v1/nothing", {}, 404],
  ["OPTIONS", "OPTIONS", "/v1/things", {}, 204],
  ["a page of the proxy", "GET", "/docs", {}, 200],
] as const)("%s names the trace of its request", async (_name, method, path, headers, status) => {
  const { send } = await setUp();
  await send("/v1/things/1");
  const response = await send(path, { ...caller, ...headers }, method);
  expect([response.status, response.headers.get("traceparent")]).toEqual([status, caller.traceparent]);
});

test("a request without a trace gets a new one, and the service is sent the same", async () => {
  const { stub, send } = await setUp();
  const responses = [await send("/v1/things/1"), await send("/v1/things/1"), await send("/v1/things", {}, "POST")];
  const [missed, hit, forwarded] = responses.map(({ headers }) => headers.get("traceparent"));
  expect(stub.received.map(({ headers }) => headers["traceparent"])).toEqual([missed, forwarded]);
  for (const named of [missed, hit, forwarded]) expect(named).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(new Set([missed, hit, forwarded]).size).toBe(3);
});

test("pages of allowed origins may read the traceparent of a response", async () => {
  const { send } = await setUp();
  const { headers } = await send("/v1/things/1", { origin: "http://localhost:3000" });
  expect(headers.get("access-control-expose-headers")?.toLowerCase().split(", ")).toContain("traceparent");
});
