import { expect, test } from "vitest";
import { loadDocuments } from "../src/documents/load.ts";
import { type ProxySettings, route, routes, startProxy, startStub } from "./testing.ts";

const v2 = "application/vnd.tributary.v2+json";
const both = [...routes, route("getNew", "GET", "/news/:id", { versions: [1, 2], query: ["a", "b"] })];

/** A proxy with a route in two versions, whose service responds with the requested path and a Link. */
async function setUp(settings: ProxySettings = {}) {
  const stub = await startStub((request, response) => {
    response.setHeader("Link", '</next>; rel="next"').setHeader("Vary", "Authorization");
    if (request.headers["if-none-match"] !== undefined) response.writeHead(304, { ETag: '"1"' }).end();
    else response.end(JSON.stringify({ url: request.url }));
  });
  const proxy = await startProxy(stub, { routes: both, corsOrigins: [], ...settings });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    fetch(`${proxy.url}${path}`, { method, headers });
  return { stub, proxy, send };
}

test("without a version in the path, Accept selects it, and the response has API-Version and Content-Location", async () => {
  const { send, stub } = await setUp();
  const response = await send("/news/7?b=2&a=1", { accept: v2 });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "api-version": "2",
    "content-type": v2,
    "content-location": "/v2/news/7?a=1&b=2",
    vary: "Accept, Authorization",
  });
  expect(stub.received[0]?.url).toBe("/rest/v2/news/7?a=1&b=2");
});

test("status, media type, Content-Location and Vary depend on the version in the path and on Accept", async () => {
  const { send } = await setUp();
  for (const [path, accept, ...expected] of [
    ["/news/7", "application/json;version=2", 200, "application/json", "/v2/news/7", "Accept, Authorization"],
    ["/news/7", "*/*", 200, "application/json", "/v2/news/7", "Accept, Authorization"],
    ["/v2/news/7", "application/json", 200, "application/json", null, "Authorization"],
    ["/v2/news/7", v2, 200, v2, null, "Accept, Authorization"],
    ["/v1/news/7", v2, 406, "application/problem+json", null, "Accept"],
    ["/news/7", "text/html", 406, "application/problem+json", null, "Accept"],
    ["/v3/news/7", "application/json;version=3", 404, "application/problem+json", null, null],
  ] as const) {
    const { status, headers } = await send(path, { accept });
    const actual = [status, ...["content-type", "content-location", "vary"].map((name) => headers.get(name))];
    expect(actual, `${path} ${accept}`).toEqual(expected);
  }
});

test("a body in the vendor type of its version reaches the service as JSON, and in that of another version is 415", async () => {
  const changeNew = route("changeNew", "PATCH", "/news/:id", { versions: [1, 2] });
  const { proxy, stub } = await setUp({
    routes: [...both, route("createNew", "POST", "/news", { versions: [1, 2] }), changeNew],
  });
  const vendor = (version: number) => `application/vnd.tributary.v${version}+json`;
  for (const [method, path, type, accept, expected] of [
    ["POST", "/v2/news", vendor(2), "*/*", "application/json"],
    ["POST", "/v1/news", "APPLICATION/VND.TRIBUTARY.V1+JSON ; charset=utf-8", "*/*", "application/json; charset=utf-8"],
    ["POST", "/news", vendor(1), vendor(1), "application/json"],
    ["POST", "/news", vendor(2), "*/*", "application/json"],
    ["POST", "/news", vendor(1), "*/*", 415],
    ["POST", "/v2/news", vendor(1), vendor(2), 415],
    ["POST", "/v2/news", "text/plain", "*/*", "text/plain"],
    ["PATCH", "/v2/news/7", vendor(2), "*/*", vendor(2)],
  ] as const) {
    const headers = { accept, "content-type": type };
    const response = await fetch(`${proxy.url}${path}`, { method, headers, body: "{}" });
    const received = response.status === 415 ? 415 : stub.received.at(-1)?.headers["content-type"];
    expect(received, `${method} ${path} ${type} ${accept}`).toBe(expected);
    if (response.status !== 415) continue;
    expect(await response.json()).toMatchObject({
      detail: "This request is for version 2. Send the body as application/json or application/vnd.tributary.v2+json.",
    });
  }
  expect(stub.received).toHaveLength(6);
  // A service need not know the vendor types: it might respond with 406 after it has made the write.
  expect(new Set(stub.received.map(({ headers }) => headers.accept))).toEqual(new Set(["application/json"]));
});

test("a 406 lists the choices, is not forwarded, and is not stored", async () => {
  const { send, stub } = await setUp();
  const response = await send("/news/7", { accept: "application/xml" });
  expect(await response.json()).toMatchObject({
    type: "/problems/not-acceptable",
    status: 406,
    detail:
      "This path is available as application/json, application/json;version=2, application/vnd.tributary.v2+json, " +
      "application/json;version=1, application/vnd.tributary.v1+json.",
    choices: [
      "application/json",
      "application/json;version=2",
      "application/vnd.tributary.v2+json",
      "application/json;version=1",
      "application/vnd.tributary.v1+json",
    ],
  });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(stub.received).toEqual([]);
});

test("a 304 has the version headers of the whole response", async () => {
  const { send } = await setUp();
  const response = await send("/news/7", { "if-none-match": '"1"', accept: v2, authorization: "Bearer t" });
  expect(response.status).toBe(304);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "api-version": "2",
    vary: "Accept, Authorization",
    "content-location": "/v2/news/7",
  });
});

test("a preflight is accepted if any version has the path: the Accept of the request is unknown", async () => {
  const { send } = await setUp({
    routes: [route("getNew", "GET", "/news/:id", { versions: [2] })],
    corsOrigins: ["http://localhost:*"],
  });
  const response = await send(
    "/news/7",
    { origin: "http://localhost:1", "access-control-request-method": "GET", accept: "text/html" },
    "OPTIONS",
  );
  expect([response.status, response.headers.get("access-control-allow-methods")]).toEqual([204, "GET, HEAD, OPTIONS"]);
});

test("without a version in the path, OPTIONS lists the methods of all versions", async () => {
  const { send } = await setUp({
    routes: [
      route("getNew", "GET", "/news/:id", { versions: [1, 2] }),
      route("changeNew", "PATCH", "/news/:id", { versions: [1] }),
    ],
  });
  const allowAt = async (path: string) => (await send(path, {}, "OPTIONS")).headers.get("allow");
  expect(await allowAt("/news/7")).toBe("GET, HEAD, PATCH, OPTIONS");
  expect(await allowAt("/v2/news/7")).toBe("GET, HEAD, OPTIONS");
  expect((await send("/news/7", {}, "PATCH")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
});

const day = 86_400_000;
const now = Date.UTC(2030, 0, 1);

test("a deprecated version has Deprecation, Sunset and a successor Link beside the service's links", async () => {
  const retirements = [{ version: 1, deprecatedAtMs: now - day, sunsetAtMs: now + day }];
  const { send } = await setUp({ retirements, nowMs: () => now });
  const old = await send("/v1/news/7?a=1");
  expect(Object.fromEntries(old.headers)).toMatchObject({
    deprecation: `@${(now - day) / 1_000}`,
    sunset: "Wed, 02 Jan 2030 00:00:00 GMT",
    link: '</next>; rel="next", </v2/news/7>; rel="successor-version"',
  });
  const alone = await send("/v1/things/7");
  expect([alone.headers.get("deprecation"), alone.headers.get("link")]).toEqual([
    `@${(now - day) / 1_000}`,
    '</next>; rel="next"',
  ]);
  const current = await send("/v2/news/7");
  expect([current.headers.get("deprecation"), current.headers.get("sunset")]).toEqual([null, null]);
});

test("the successor of a version is one that has not ended", async () => {
  const retirements = [
    { version: 1, deprecatedAtMs: now - day, sunsetAtMs: now + day },
    { version: 2, deprecatedAtMs: now - day, sunsetAtMs: now },
  ];
  const routes = [route("getNew", "GET", "/news/:id", { versions: [1, 2, 3] })];
  const { send } = await setUp({ routes, retirements, nowMs: () => now });
  for (const path of ["/v1/news/7", "/v2/news/7"])
    expect((await send(path)).headers.get("link")).toContain('</v3/news/7>; rel="successor-version"');
});

test("a deprecated version links to the page that says what to do", async () => {
  const documents = loadDocuments(new URL("../../supergraph/openapi", import.meta.url).pathname);
  const page = '</docs/v1>; rel="deprecation"; type="text/html"';
  const sunsetPage = '</docs/v1>; rel="sunset"; type="text/html"';
  for (const [sunsetAtMs, links, sentence] of [
    [undefined, page, "<strong>Deprecated</strong> as of 2029-12-31. Use"],
    [now + day, `${page}, ${sunsetPage}`, "From 2030-01-02 every request to version 1 gets 410 Gone. Use"],
    [now - day, `${page}, ${sunsetPage}`, "From 2029-12-31 every request to version 1 gets 410 Gone. Use"],
  ] as const) {
    const retirements = [{ version: 1, deprecatedAtMs: now - day, sunsetAtMs }];
    const { send } = await setUp({ documents, retirements, nowMs: () => now });
    const response = await send("/v1/news/7");
    const ofService = response.status === 200 ? '</next>; rel="next", ' : "";
    expect(response.headers.get("link")).toBe(`${ofService}${links}, </v2/news/7>; rel="successor-version"`);
    const text = await (await send("/docs/v1")).text();
    expect(text.replaceAll(/\s+/g, " ")).toContain(sentence);
  }
});

test("the served OpenAPI document of a deprecated version is marked", async () => {
  const documents = loadDocuments(new URL("../../supergraph/openapi", import.meta.url).pathname);
  const retirements = [{ version: 1, deprecatedAtMs: now - day, sunsetAtMs: now + day }];
  const { send } = await setUp({ documents, retirements });
  const isMarked = async (version: number) =>
    /"deprecated": true/.test(await (await send(`/openapi/v${version}.json`)).text());
  expect([await isMarked(1), await isMarked(2)]).toEqual([true, false]);
});

test("from its sunset on a version is 410 and not forwarded; the next version is available", async () => {
  let nowMs = now;
  const retirements = [{ version: 1, deprecatedAtMs: undefined, sunsetAtMs: now + day }];
  const { send, stub } = await setUp({ retirements, nowMs: () => nowMs });
  expect((await send("/v1/news/7")).status).toBe(200);
  nowMs = now + day;
  for (const [path, accept] of [
    ["/v1/news/7", "*/*"],
    ["/news/7", "application/json;version=1"],
  ] as const) {
    const response = await send(path, { accept });
    expect([response.status, response.headers.get("sunset"), response.headers.get("link")]).toEqual([
      410,
      "Wed, 02 Jan 2030 00:00:00 GMT",
      '</v2/news/7>; rel="successor-version"',
    ]);
    expect(await response.json()).toMatchObject({
      type: "/problems/gone",
      status: 410,
      detail: expect.stringContaining("Version 1 ended on 2030-01-02."),
    });
  }
  expect((await send("/v1/nothing")).status).toBe(404);
  expect((await send("/v1/news/7", {}, "OPTIONS")).status).toBe(204);
  expect((await send("/news/7")).status).toBe(200);
  // A client of another test that reconnects to a closed port may reach this stub.
  const forwarded = stub.received.map(({ url }) => url).filter((url) => url.startsWith("/rest/"));
  expect(forwarded).toEqual(["/rest/v1/news/7", "/rest/v2/news/7"]);
});

test("the usage of the old version is counted by client and route, and reported when the process stops", async () => {
  const { send, proxy } = await setUp({ knownClients: ["shop"] });
  await send("/v1/news/7", { "x-client-name": "shop" });
  await send("/news/8", { "x-client-name": "shop", accept: "application/json;version=1" });
  await send("/v1/things/1", { "apollographql-client-name": "unknown" });
  await send("/v2/news/7", { "x-client-name": "shop" });
  await send("/v1/nothing", { "x-client-name": "shop" });
  const usage = [
    { version: 1, route: "getNew", client: "shop", requests: 2 },
    { version: 1, route: "getThing", client: "other", requests: 1 },
  ];
  expect(proxy.usage()).toEqual(usage);
  await proxy.drain();
  expect(proxy.observed).toContainEqual({ kind: "old-versions", usage });
});
