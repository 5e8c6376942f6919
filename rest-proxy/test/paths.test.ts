import { expect, test } from "vitest";
import { readRoutes } from "../src/route/routes.ts";
import { sendRaw, bodyOf, route, startProxy, startStub, statusOf } from "./testing.ts";

// Which targets and hosts reach a service. http-proxy-middleware alone forwards every path, and can choose a service by Host.

const notFound = [
  "/v1/things/../admin",
  "/v1/things/%2e%2e/admin",
  "/v1/things/.%2E/admin",
  "/v1/things/./1",
  "/v1/things/..",
  "/v1/things/..%2f..%2fadmin",
  "/v1/things/..%5cadmin",
  "/v1/things/a%2Fb",
  "/v1/things/%252e%252e",
  "/v1//things",
  "//v1/things",
  "//evil.example/v1/things",
  "//",
  "/v1/",
  "/v1/things/",
  "/v1/Things",
  "/V1/things",
  "/v01/things",
  "/v2/things",
  "/v1/v1/things",
  "/rest/v1/things",
  "/v1/things/%00",
  "/v1/things/1%0d%0aX-Evil:%201",
  "/v1/%74hings",
  "/v1/things/1;a=b",
  "/v1/things/%c0%ae%c0%ae",
  `/v1/things/${"1".repeat(10_000)}`,
  "/graphql",
];

test("a path that is not in the table is 404 and reaches no service, however similar", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const path of notFound) {
    const response = await sendRaw(proxy.port, `GET ${path} HTTP/1.1\r\nHost: a`);
    expect(statusOf(response), path).toBe(404);
    const problem = bodyOf(response);
    expect(problem).toMatchObject({ type: "/problems/not-found", status: 404 });
    // As a reference, what begins with two slashes would name a host.
    expect(problem["instance"]).toBe(path.startsWith("//") ? undefined : path);
  }
  expect(stub.received).toEqual([]);
});

const malformed = [
  "/v1/things/%",
  "/v1/things/%zz",
  "/v1/things\\1",
  "/v1\\things",
  "/v1/things/1#x",
  '/v1/things/"1"',
  "/v1/things/{id}",
  "*",
  "v1/things",
  "ftp://a/v1/things",
  "http:///v1/things",
  "http://user@evil.example/v1/things",
  "http://[::1/v1/things",
];

test("a target that is no path or http URL is 400 and reaches no service", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const target of malformed) {
    const response = await sendRaw(proxy.port, `GET ${target} HTTP/1.1\r\nHost: a`);
    expect(statusOf(response), target).toBe(400);
    expect(bodyOf(response)).toMatchObject({ type: "/problems/malformed-request", status: 400 });
    expect(response.toLowerCase()).toContain("content-type: application/problem+json");
  }
  expect(stub.received).toEqual([]);
});

test("a target in absolute form has the same route, with any host (RFC 9112, 3.2.2)", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await sendRaw(proxy.port, "GET http://evil.example:99/v1/things/1 HTTP/1.1\r\nHost: other.example");
  expect(stub.received[0]).toMatchObject({
    url: "/rest/v1/things/1",
    headers: { host: `127.0.0.1:${stub.port}`, "x-forwarded-host": "evil.example:99" },
  });
});

test("neither Host nor a header that could replace it chooses a service (CVE-2026-55602)", async () => {
  const [things, parts] = [await startStub(), await startStub()];
  const proxy = await startProxy(things, { addresses: { things: [things.url], parts: [parts.url] } });
  for (const host of ["parts", `127.0.0.1:${parts.port}`, "parts.evil.example", "evil.example/v1/things"]) {
    const spoofed = `Host: ${host}\r\nX-Forwarded-Host: parts\r\nForwarded: host=parts`;
    const status = statusOf(await sendRaw(proxy.port, `GET /v1/things/1 HTTP/1.1\r\n${spoofed}`));
    expect(status).toBe(host.includes("/") ? 400 : 200);
  }
  expect(things.received.map(({ url }) => url)).toEqual([
    "/rest/v1/things/1",
    "/rest/v1/things/1",
    "/rest/v1/things/1",
  ]);
  expect(parts.received).toEqual([]);
  await sendRaw(proxy.port, "GET /v1/things/1/parts HTTP/1.1\r\nHost: things");
  expect(parts.received.map(({ url }) => url)).toEqual(["/rest/v1/things/1/parts"]);
});

test("a request with two hosts, none or an invalid one is 400, a health check too", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const hosts of ["Host: a\r\nHost: b", "Accept: */*", "Host: a b", "Host: a/b", 'Host: a"b']) {
    const response = await sendRaw(proxy.port, `GET /v1/things/1 HTTP/1.1\r\n${hosts}`);
    expect(statusOf(response), hosts).toBe(400);
    expect(bodyOf(response)).toMatchObject({ type: "/problems/malformed-request" });
  }
  for (const hosts of ["Host: a\r\nHost: b", "Accept: */*"])
    expect(statusOf(await sendRaw(proxy.port, `GET /health/live HTTP/1.1\r\n${hosts}`)), hosts).toBe(400);
  expect(stub.received).toEqual([]);
});

test("an empty Host, and none in HTTP/1.0, is not forwarded", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await sendRaw(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost:");
  await sendRaw(proxy.port, "GET /v1/things/1 HTTP/1.0");
  for (const { headers } of stub.received) {
    expect(headers["x-forwarded-host"]).toBeUndefined();
    expect(headers["forwarded"]).toBe("for=127.0.0.1;proto=http");
  }
  expect(stub.received).toHaveLength(2);
});

test("a parameter is forwarded in its canonical spelling", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const id of ["1", "a.b_c~d-e", "caf%C3%A9", "caf%c3%a9", "a:b", "a%3Ab", "...", "__proto__"]) {
    expect(statusOf(await sendRaw(proxy.port, `GET /v1/things/${id} HTTP/1.1\r\nHost: a`))).toBe(200);
  }
  expect(stub.received.map(({ url }) => url.replace("/rest/v1/things/", ""))).toEqual([
    "1",
    "a.b_c~d-e",
    "caf%C3%A9",
    "caf%C3%A9",
    "a%3Ab",
    "a%3Ab",
    "...",
    "__proto__",
  ]);
});

test.each([
  ["/api/v{version}", "/api/v2/things/7?limit=1", "/api/v2/things/9"],
  ["/shop", "/shop/things/7?limit=1", "/shop/things/9"],
  ["", "/things/7?limit=1", "/things/9"],
])("a service with the prefix %j gets its own paths, and its Location is the client's", async (prefix, target, own) => {
  const stub = await startStub((request, response) => {
    if (request.method === "POST")
      response.writeHead(201, { Location: own, "Content-Location": "https://a.example/1" });
    response.end("{}");
  });
  const declared = { versions: [2], prefix };
  const routes = [
    route("getThing", "GET", "/things/:id", { ...declared, query: ["limit"], cache: "public" }),
    route("createThing", "POST", "/things", declared),
  ];
  const { url } = await startProxy(stub, { routes });
  expect((await fetch(`${url}/v2/things/7?limit=1`)).status).toBe(200);
  expect(stub.received[0]?.url).toBe(target);
  const created = await fetch(`${url}/v2/things`, { method: "POST" });
  expect(created.headers.get("location")).toBe("/v2/things/9");
  expect(created.headers.get("content-location")).toBe("https://a.example/1");
});

test("Link and URLs with the address of a service with a prefix become paths of clients", async () => {
  const stub = await startStub((request, response) => {
    const own = `http://${request.headers.host}/api/things`;
    response.setHeader("Location", `${own}/9?a=1#b`);
    response.setHeader("Link", [
      '</api/things?cursor=2>; rel="next", <https://a.example/api/things>; rel="help"',
      `<${own}?cursor=1>; rel=prev, <//api/x>; rel=x`,
    ]);
    response.end("{}");
  });
  const { url } = await startProxy(stub, { routes: [route("listThings", "GET", "/things", { prefix: "/api" })] });
  const { headers } = await fetch(`${url}/v1/things`);
  expect(headers.get("location")).toBe("/v1/things/9?a=1#b");
  expect(headers.get("link")).toBe(
    '</v1/things?cursor=2>; rel="next", <https://a.example/api/things>; rel="help", </v1/things?cursor=1>; rel=prev, <//api/x>; rel=x',
  );
});

test("the cached response is invalidated that a service with a prefix names in its Location", async () => {
  const stub = await startStub((request, response) => {
    if (request.method === "POST") response.writeHead(303, { Location: "/api/things/7" });
    else response.setHeader("Cache-Control", "public, max-age=60");
    response.end(request.method === "GET" ? "{}" : undefined);
  });
  const routes = [
    route("getThing", "GET", "/things/:id", { prefix: "/api", cache: "public" }),
    route("createThing", "POST", "/things", { prefix: "/api" }),
  ];
  const { url } = await startProxy(stub, { routes });
  const read = async () => void (await (await fetch(`${url}/v1/things/7`)).text());
  await read();
  await read();
  expect(stub.received).toHaveLength(1);
  await fetch(`${url}/v1/things`, { method: "POST", redirect: "manual" });
  await read();
  expect(stub.received.map(({ method }) => method)).toEqual(["GET", "POST", "GET"]);
});

test.each(["api", "/api/", "/../api", "//host", "/a?b", "/a#b", "/{v}"])("the prefix %j is refused", (prefix) => {
  const { id, method, path, versions, cache, service } = route("getThing", "GET", "/things/:id", {});
  expect(() => readRoutes({ routes: [{ id, method, path, versions, cache, service, prefix }] })).toThrow(
    "routes[0].prefix",
  );
});
