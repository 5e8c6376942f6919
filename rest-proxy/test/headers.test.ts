import { expect, test } from "vitest";
import { openConnection, route, sendRaw, startProxy, startStub } from "./testing.ts";

// Headers of requests and responses, informational responses too. http-proxy-middleware alone forwards hop-by-hop, forwarding and identity headers.

const get = "GET /v1/things/1 HTTP/1.1\r\nHost: api.example";

test("only the proxy sets forwarding headers", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const spoofed = [
    "Forwarded: for=6.6.6.6",
    "X-Forwarded-For: 6.6.6.6",
    "X-Forwarded-For: 7.7.7.7",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: evil.example",
    "Proxy: http://evil.example",
    "X-Forwarded-Port: 1",
    "X-Forwarded-Prefix: /evil",
    "X-Real-Ip: 6.6.6.6",
    "True-Client-Ip: 6.6.6.6",
    "Cf-Connecting-Ip: 6.6.6.6",
    "X_Forwarded_For: 6.6.6.6",
  ];
  await sendRaw(proxy.port, [get, ...spoofed].join("\r\n"));
  const { headers } = stub.received[0] ?? {};
  expect(headers).toMatchObject({
    forwarded: 'for=127.0.0.1;host="api.example";proto=http',
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "http",
    "x-forwarded-host": "api.example",
    host: `127.0.0.1:${stub.port}`,
  });
  expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|7\.7\.7\.7|evil/);
});

const identity = [
  "X-User-Id",
  "X-User",
  "X-Auth-Request-User",
  "X-Remote-User",
  "Remote-User",
  "X-Scopes",
  "X_User_Id",
  "x-authenticated-userid",
];
const override = ["X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url"];
const claims = [...identity.map((name) => `${name}: 1`), ...override.map((name) => `${name}: DELETE`)];

test("identity and method headers of a client never reach a service", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await sendRaw(proxy.port, [get, ...claims, "Authorization: Bearer t"].join("\r\n"));
  const names = Object.keys(stub.received[0]?.headers ?? {});
  expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/user|scope|method|original|rewrite|_/)]));
  expect(names.filter((name) => name.startsWith("x-"))).toEqual([
    "x-request-id",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-deadline-ms",
  ]);
  expect(stub.received[0]).toMatchObject({ method: "GET", headers: { authorization: "Bearer t" } });
});

test("a service's deadline is never later than the proxy's, whatever the client sends", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { upstreamTimeoutMs: 5_000 });
  await sendRaw(proxy.port, `${get}\r\nX-Deadline-Ms: 999999\r\nConnection: x-deadline-ms`);
  expect(Number(stub.received[0]?.headers["x-deadline-ms"])).toBeGreaterThan(0);
  expect(Number(stub.received[0]?.headers["x-deadline-ms"])).toBeLessThanOrEqual(5_000);
});

const forThisConnection = [
  "Connection: keep-alive, cookie",
  "Cookie: mine",
  "Keep-Alive: timeout=99",
  "Te: trailers",
  "Proxy-Authorization: Basic c2VjcmV0",
  "Proxy-Connection: keep-alive",
  "Upgrade: h2c",
];

test("hop-by-hop headers and headers that Connection names are not forwarded to the service", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const client = await openConnection(proxy.port, [get, ...forThisConnection, "", ""].join("\r\n"));
  await client.until(/"ok":true/);
  const names = Object.keys(stub.received[0]?.headers ?? {});
  for (const name of ["cookie", "keep-alive", "te", "proxy-authorization", "proxy-connection", "upgrade"]) {
    expect(names).not.toContain(name);
  }
  expect(stub.received[0]?.headers.connection).toBe("keep-alive");
});

test("a client cannot remove headers of the proxy by naming them in Connection", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const named = "x-request-id, x-forwarded-for, forwarded, traceparent, host, content-length, via";
  const client = await openConnection(
    proxy.port,
    `POST /v1/things HTTP/1.1\r\nHost: a\r\nConnection: ${named}\r\nContent-Length: 2\r\n\r\n{}`,
  );
  await client.until(/"ok":true/);
  const names = Object.keys(stub.received[0]?.headers ?? {});
  expect(names).toEqual(expect.arrayContaining(named.split(", ")));
  expect(stub.received[0]?.body).toBe("{}");
});

const fromService: Readonly<Record<string, string>> = {
  Connection: "keep-alive, x-internal",
  "X-Internal": "secret",
  "Keep-Alive": "timeout=1234",
  "Proxy-Authenticate": "Basic",
  "Proxy-Authentication-Info": "x=1",
  Trailer: "x-late",
};

test("hop-by-hop headers of a service are not forwarded to the client", async () => {
  const stub = await startStub((_request, response) => response.writeHead(200, fromService).end("{}"));
  const proxy = await startProxy(stub);
  const { headers, status } = await fetch(`${proxy.url}/v1/things/1`);
  expect(status).toBe(200);
  expect(headers.get("x-internal")).toBeNull();
  expect(headers.get("keep-alive")).toBe("timeout=65");
  expect(headers.get("proxy-authenticate")).toBeNull();
  expect(headers.get("proxy-authentication-info")).toBeNull();
  expect(headers.get("trailer")).toBeNull();
});

test("a request with Connection: close closes the connection", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await sendRaw(proxy.port, get);
  expect(response).toMatch(/\r\nConnection: close\r\n/);
  expect(stub.received[0]?.headers.connection).toBe("keep-alive");
});

test("a service's response is forwarded: status, caching headers, links, each cookie; not Server or CORS headers", async () => {
  const serviceHeaders = {
    ETag: '"7"',
    Link: '</v1/things?cursor=x>; rel="next"',
    Location: "/v1/things/7",
    "Cache-Control": "private, no-cache",
    Vary: "Authorization, origin",
    "Set-Cookie": ["a=1", "b=2"],
    "X-Powered-By": "Express",
    Server: "inside/1.0",
    "Access-Control-Allow-Origin": "*",
    "X-Request-Id": "theirs",
    "API-Version": "9",
  };
  const stub = await startStub((_request, response) => response.writeHead(201, serviceHeaders).end("{}"));
  const proxy = await startProxy(stub);
  const response = await fetch(`${proxy.url}/v1/things`, {
    method: "POST",
    body: "{}",
    headers: { "x-request-id": "ours" },
  });
  expect(response.status).toBe(201);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    etag: '"7"',
    link: '</v1/things?cursor=x>; rel="next"',
    location: "/v1/things/7",
    "cache-control": "private, no-cache",
    vary: "origin, Authorization",
    "x-request-id": "ours",
    "api-version": "1",
  });
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  for (const name of ["x-powered-by", "server", "access-control-allow-origin"])
    expect(response.headers.get(name)).toBeNull();
});

test("a header named __proto__ has no effect (CVE-2026-21710)", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  expect(await sendRaw(proxy.port, `${get}\r\n__proto__: x\r\nconstructor: y`)).toContain("200 OK");
  expect(stub.received[0]?.rawHeaders).not.toContain("__proto__");
});

test("Via is appended for the service (RFC 9110, 7.6.3)", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await sendRaw(proxy.port, `${get}\r\nVia: 1.0 fred`);
  await sendRaw(proxy.port, get.replace("HTTP/1.1", "HTTP/1.0"));
  expect(stub.received.map(({ headers }) => headers.via)).toEqual([
    "1.0 fred, 1.1 tributary-rest-proxy",
    "1.0 tributary-rest-proxy",
  ]);
});

test("a request keeps a valid id and a valid trace", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  const good = await fetch(`${proxy.url}/v1/things/1`, {
    headers: { "x-request-id": "abc-123", traceparent, tracestate: "a=b" },
  });
  expect(good.headers.get("x-request-id")).toBe("abc-123");
  expect(stub.received[0]?.headers).toMatchObject({ "x-request-id": "abc-123", traceparent, tracestate: "a=b" });
  const bad = await fetch(`${proxy.url}/v1/things/1`, {
    headers: { "x-request-id": "<script>", traceparent: `00-${"0".repeat(32)}-00f067aa0ba902b7-00`, tracestate: "a=b" },
  });
  const id = bad.headers.get("x-request-id");
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(stub.received[1]?.headers["x-request-id"]).toBe(id);
  expect(stub.received[1]?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(stub.received[1]?.headers["traceparent"]).not.toContain("0".repeat(32));
  expect(stub.received[1]?.headers["tracestate"]).toBeUndefined();
});

const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = { traceparent: `00-${traceId}-b7ad6b7169203331-00` };
const sampledCaller = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
const serviceTraceParent = "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01";
const tracedRoutes = [
  route("getThing", "GET", "/things/:id", { cache: "public" }),
  route("addThing", "POST", "/things", {}),
];

/** A proxy with a service that responds with another traceparent. */
async function setUpTraced() {
  const stub = await startStub(({ method, url: target }, response) => {
    response.setHeader("traceparent", serviceTraceParent);
    const scope = target.endsWith("/private") ? "private" : "public";
    if (method === "GET") response.setHeader("Cache-Control", `${scope}, max-age=60`).setHeader("ETag", '"7"');
    response.end('{"ok":true}');
  });
  const { url } = await startProxy(stub, { routes: tracedRoutes });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    fetch(`${url}${path}`, { method, headers });
  return { stub, send };
}

test.each([
  ["GET", "/v1/things/1", {}, 200, undefined],
  ["GET", "/v1/things/1", { "if-none-match": '"7"' }, 304, undefined],
  ["GET", "/v1/things/2", {}, 200, undefined],
  ["HEAD", "/v1/things/1", {}, 200, undefined],
  ["GET", "/docs", {}, 200, undefined],
  ["GET", "/v1/things/private", {}, 200, caller.traceparent],
  ["POST", "/v1/things", {}, 200, caller.traceparent],
  ["GET", "/v1/nothing", {}, 404, caller.traceparent],
  ["OPTIONS", "/v1/things", {}, 204, caller.traceparent],
] as const)(
  "the response to %s %s with %j, %s, names id and trace of the request unless shared caches may store it: %s",
  async (method, path, headers, status, traceparent) => {
    const { send } = await setUpTraced();
    await send("/v1/things/1");
    const response = await send(path, { ...caller, ...headers, "x-request-id": "r-1" }, method);
    const ids = [response.headers.get("traceparent"), response.headers.get("x-request-id")];
    expect([response.status, ...ids]).toEqual([status, traceparent ?? null, traceparent ? "r-1" : null]);
  },
);

test("a client does not decide that services trace its request", async () => {
  const { stub, send } = await setUpTraced();
  const response = await send("/v1/things/private", sampledCaller);
  expect(response.headers.get("traceparent")).toBe(caller.traceparent);
  expect(stub.received.map(({ headers }) => headers["traceparent"])).toEqual([caller.traceparent]);
});

test("a request without a trace gets a new one, and the service is sent the same", async () => {
  const { stub, send } = await setUpTraced();
  const responses = [await send("/v1/things/private"), await send("/v1/things", {}, "POST")];
  const named = responses.map(({ headers }) => headers.get("traceparent"));
  expect(stub.received.map(({ headers }) => headers["traceparent"])).toEqual(named);
  for (const one of named) expect(one).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(new Set(named).size).toBe(2);
});

// Informational responses (RFC 9110, section 15.2) of a service.

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

test("the client of a read gets them too", async () => {
  const { port } = await startHinting();
  expect((await sendRaw(port, get)).startsWith(interim.join(""))).toBe(true);
});

const hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";

/** A service of a cacheable resource that sends hints until `release` is called. */
async function startSlowHinting() {
  let release = () => {};
  let isHinting = false;
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "public, max-age=60").setHeader("ETag", '"1"');
    const timer = isHinting ? setInterval(() => response.socket?.write(hint), 10) : undefined;
    release = () => {
      clearInterval(timer);
      response.end("{}");
    };
    if (!isHinting) release();
  });
  const routes = [route("getThing", "GET", "/things/:id", { cache: "public" })];
  const { port, server } = await startProxy(stub, { routes });
  let requests = 0;
  server.prependListener("request", () => requests++);
  const connect = (headers = "") => openConnection(port, `${get}${headers}\r\nConnection: close\r\n\r\n`);
  const { received } = stub;
  return {
    connect,
    release: () => release(),
    received,
    requests: () => requests,
    startHinting: () => void (isHinting = true),
  };
}

test("clients that wait for one request to the service all get its informational responses", async () => {
  const { connect, release, startHinting: start, received } = await startSlowHinting();
  start();
  const clients = [await connect(), await connect()];
  for (const client of clients) expect(await client.until(/103 Early Hints/)).toContain(hint);
  release();
  for (const client of clients) expect(await client.closed()).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  expect(received).toHaveLength(1);
});

test("of a request with a token, only its own client gets the informational responses", async () => {
  const { connect, release, startHinting: start, received, requests } = await startSlowHinting();
  await (await connect()).closed();
  start();
  const noCache = "\r\nCache-Control: no-cache\r\nAuthorization: Bearer ";
  const own = await connect(`${noCache}a`);
  await expect.poll(() => received.length).toBe(2);
  const other = await connect(`${noCache}b`);
  await expect.poll(requests).toBe(3);
  const { length } = own.text();
  await expect.poll(() => own.text().length).toBeGreaterThan(length + 3 * hint.length);
  release();
  const text = await other.closed();
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).toContain("collapsed");
  expect(received).toHaveLength(2);
});

test("a client of HTTP/1.0 gets no informational response", async () => {
  const { port } = await startHinting();
  expect(await sendRaw(port, "GET /v1/things/1 HTTP/1.0\r\nHost: api.example")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test("a 103 with an invalid Link is dropped", async () => {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "no-store");
    response.socket?.write("HTTP/1.1 103 Early Hints\r\nLink: nonsense\r\n\r\n");
    response.end('{"ok":true}');
  });
  const { port } = await startProxy(stub);
  expect(await sendRaw(port, get)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});
