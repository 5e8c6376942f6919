import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sendRaw, startProxy, startStub, statusOf } from "./testing.ts";

test("a route is available with and without a version in the path, with its parameters and its query", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { defaultVersion: 1 });
  for (const path of ["/v1/things/7", "/things/7", "/v1/things?search=a+b%26c&limit=2", "/things?", "/things?&&"]) {
    const response = await fetch(`${proxy.url}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("api-version")).toBe("1");
    expect(await response.json()).toEqual({ ok: true });
  }
  expect(stub.received.map(({ url }) => url)).toEqual([
    "/rest/v1/things/7",
    "/rest/v1/things/7",
    "/rest/v1/things?limit=2&search=a%20b%26c",
    "/rest/v1/things",
    "/rest/v1/things",
  ]);
});

test("HEAD is available wherever GET is, without a body", async () => {
  const stub = await startStub((request, response) => {
    response.setHeader("Content-Length", 11);
    response.end(request.method === "HEAD" ? undefined : '{"ok":true}');
  });
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things/1`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-length")).toBe("11");
  expect(await response.text()).toBe("");
  expect(stub.received[0]?.method).toBe("HEAD");
  const missing = await fetch(`${proxy.url}/v1/nothing`, { method: "HEAD" });
  expect([missing.status, missing.headers.get("content-type"), await missing.text()]).toEqual([
    404,
    "application/problem+json",
    "",
  ]);
});

test("a method that the path has not is 405, and Allow lists the methods", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const [method, path, allow] of [
    ["PUT", "/v1/things/1", "DELETE, GET, HEAD, PATCH, OPTIONS"],
    ["POST", "/v1/things/1/parts", "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/v1/things", "GET, HEAD, POST, OPTIONS"],
  ] as const) {
    const response = await fetch(`${proxy.url}${path}`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ type: "/problems/method-not-allowed", status: 405 });
  }
  expect(stub.received).toEqual([]);
});

test("OPTIONS lists the methods without a request to the service", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things`, { method: "OPTIONS", body: "ignored" });
  expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([
    204,
    "GET, HEAD, POST, OPTIONS",
    "",
  ]);
  expect((await fetch(`${proxy.url}/v1/nothing`, { method: "OPTIONS" })).status).toBe(404);
  expect(stub.received).toEqual([]);
});

test("an unknown, repeated or badly encoded query parameter is 400, and the detail names it", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const [path, type, detail] of [
    [
      "/v1/things?nope=1",
      "unknown-parameter",
      'There is no query parameter "nope" here. This path accepts limit, search.',
    ],
    ["/v1/things/1?limit=1", "unknown-parameter", 'There is no query parameter "limit" here. This path accepts none.'],
    ["/v1/things?limit=1&%6cimit=2", "malformed-request", "The query parameter limit may be given once."],
    ["/v1/things?limit=%zz", "malformed-request", "The query is not text in percent-encoded UTF-8."],
    ["/v1/things?search=%ff", "malformed-request", "The query is not text in percent-encoded UTF-8."],
    ["/v1/things?search=%00", "malformed-request", "The query is not text in percent-encoded UTF-8."],
  ] as const) {
    const response = await fetch(`${proxy.url}${path}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: `/problems/${type}`, detail, instance: path.split("?")[0] });
  }
  expect(stub.received).toEqual([]);
});

test("every problem of the proxy is a document with no-store and the request id of the log", async () => {
  const proxy = await startProxy(await startStub());
  const response = await fetch(`${proxy.url}/v1/nothing?secret=1`, { headers: { "x-request-id": "r-1" } });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    "x-request-id": "r-1",
  });
  expect(await response.json()).toEqual({
    type: "/problems/not-found",
    title: "Not found",
    status: 404,
    detail: "There is nothing at this path.",
    instance: "/v1/nothing",
    requestId: "r-1",
  });
  expect(proxy.observed).toEqual([]);
  expect(proxy.settled).toMatchObject([
    { status: 404, requestId: "r-1", record: { code: "NOT_FOUND", route: undefined } },
  ]);
});

test("the proxy serves the documents itself: for pages of allowed origins, without a request to a service", async () => {
  const stub = await startStub();
  const openApi = readFileSync(new URL("../../supergraph/openapi/v2.json", import.meta.url), "utf8");
  const proxy = await startProxy(stub, { documents: new Map([[2, openApi]]) });
  const send = (path: string, method = "GET") =>
    fetch(`${proxy.url}${path}`, { method, headers: { origin: "http://localhost:1", "x-request-id": "r-1" } });
  const document = await send("/openapi/v2.json");
  expect(Object.fromEntries(document.headers)).toMatchObject({
    "content-type": "application/json",
    "access-control-allow-origin": "http://localhost:1",
    vary: "Origin, Accept-Encoding",
  });
  expect(await document.text()).toBe(openApi);
  expect((await send("/openapi/v1.json")).status).toBe(404);
  expect((await send("/problems/not-found")).status).toBe(200);
  expect((await send("/docs", "HEAD")).status).toBe(200);
  const [options, refused] = [await send("/docs", "OPTIONS"), await send("/docs", "DELETE")];
  expect([options.status, refused.status, options.headers.get("allow"), refused.headers.get("allow")]).toEqual([
    204,
    405,
    "GET, HEAD, OPTIONS",
    "GET, HEAD, OPTIONS",
  ]);
  expect(stub.received).toEqual([]);
});

test("a problem document of a service is forwarded unchanged", async () => {
  const problem = JSON.stringify({ type: "/problems/unsupported-media-type", status: 415 });
  const stub = await startStub((_request, response) =>
    response.writeHead(415, { "Content-Type": "application/problem+json", "Cache-Control": "no-store" }).end(problem),
  );
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things`, {
    method: "POST",
    body: "a=1",
    headers: { "content-type": "text/plain" },
  });
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    415,
    "application/problem+json",
    problem,
  ]);
  expect(stub.received[0]).toMatchObject({ body: "a=1", headers: { "content-type": "text/plain" } });
});

const anyTag = "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *";

test("the proxy adds no ETag to responses of the service or to its problems", async () => {
  const proxy = await startProxy(await startStub());
  for (const [request, status] of [
    [anyTag, 200],
    [anyTag.replace("things", "nothing"), 404],
  ] as const) {
    const response = await sendRaw(proxy.port, request);
    expect(statusOf(response)).toBe(status);
    expect(response).not.toMatch(/etag/i);
  }
});

test("without a cached response, the service evaluates If-None-Match, and its 304 is forwarded", async () => {
  const stub = await startStub((request, response) => {
    response.writeHead(request.headers["if-none-match"] === '"7"' ? 304 : 200, { ETag: '"7"' }).end();
  });
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things/1`, { headers: { "if-none-match": '"7"' } });
  expect([response.status, response.headers.get("etag")]).toEqual([304, '"7"']);
});

test("a redirect of a service is forwarded, not followed", async () => {
  const stub = await startStub((_request, response) =>
    response.writeHead(307, { Location: "http://evil.example/" }).end(),
  );
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things/1`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([307, "http://evil.example/"]);
  expect(stub.received).toHaveLength(1);
});

test("a bug is a masked 500, reported with its cause", async () => {
  const proxy = await startProxy(await startStub(), { addresses: {} });
  const response = await fetch(`${proxy.url}/v1/things/1`);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({
    type: "/problems/internal-server-error",
    detail: "Internal error. Retry later.",
  });
  expect(proxy.observed).toContainEqual(
    expect.objectContaining({ kind: "bug", cause: new Error("The service things has no address.") }),
  );
});

test("pages of allowed origins may read every response, problems too; others may not", async () => {
  const proxy = await startProxy(await startStub(), { corsOrigins: ["http://localhost:*", "https://app.example"] });
  const read = async (path: string, origin?: string) => {
    const { headers } = await fetch(`${proxy.url}${path}`, origin === undefined ? {} : { headers: { origin } });
    expect(headers.get("vary")).toBe("Origin");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    return headers.get("access-control-allow-origin");
  };
  for (const path of ["/v1/things/1", "/v1/nothing"]) {
    // With Vary too, or a cache would send it to pages.
    expect(await read(path)).toBeNull();
    for (const origin of ["http://localhost:5173", "http://localhost", "https://app.example"]) {
      expect(await read(path, origin)).toBe(origin);
    }
    for (const origin of [
      "http://localhost.evil.example",
      "https://app.example.evil.example",
      "https://localhost:1",
      "null",
    ]) {
      expect(await read(path, origin)).toBeNull();
    }
  }
});

test("a preflight response lists the methods of the path and the allowed headers", async () => {
  const proxy = await startProxy(await startStub());
  const preflight = (origin: string) =>
    fetch(`${proxy.url}/v1/things/1`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PATCH", "access-control-request-headers": "if-match" },
    });
  const { status, headers } = await preflight("http://localhost:1");
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-methods")).toContain("PATCH");
  expect(headers.get("access-control-allow-headers")).toMatch(/\bpriority\b.*\bif-match\b/);
  expect(headers.get("access-control-expose-headers")).toBe(
    "consistency-token, retry-after, traceparent, www-authenticate, x-request-id, API-Version, Allow, Cache-Status, Content-Location, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Sunset",
  );
  expect((await preflight("http://evil.example")).headers.get("access-control-allow-methods")).toBeNull();
});

test("without allowed origins there are no CORS headers; with * every origin is allowed", async () => {
  const stub = await startStub();
  const [none, anyone] = [await startProxy(stub, { corsOrigins: [] }), await startProxy(stub, { corsOrigins: ["*"] })];
  // Without an Origin too: a cache in front stores that response for pages.
  for (const headers of [{ origin: "http://a.example" }, {}]) {
    const corsOf = async ({ url }: { readonly url: string }) => {
      const response = await fetch(`${url}/v1/things/1`, { headers });
      return [response.headers.get("access-control-allow-origin"), response.headers.get("vary")];
    };
    expect([await corsOf(none), await corsOf(anyone)]).toEqual([
      [null, null],
      ["*", null],
    ]);
  }
});
