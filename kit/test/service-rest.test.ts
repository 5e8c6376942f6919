import { request as httpRequest } from "node:http";
import type { Request } from "express";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../src/process/log.ts";
import { publicPath } from "../src/rest/error-responses.ts";
import { pageBytesMax } from "../src/lists/keyset.ts";
import { createThingsApp, cursors, startThings } from "./things-service.ts";

// The REST endpoint of a service, and what both endpoints have in common.

let url: string;
let logged: string[];
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ url, logged, stop } = await startThings());
});
afterAll(() => stop());

test("routes and handlers that do not match prevent the start, and are listed with method, path and version", async () => {
  const handler = async () => ({ status: 200 });
  await expect(createThingsApp(silentLog, { 1: { list: handler, one: handler, ehco: handler } })).rejects.toThrow(
    [
      "The REST routes and handlers of this service do not match:",
      "  - POST /things (echo) has no handler in version 1. Add one, or remove the route or version.",
      "  - GET /next (next) has no handler in version 2. Add one, or remove the route or version.",
      "  - The handler ehco in version 1 has no route with this id. Declare the route, or remove the handler.",
    ].join("\n"),
  );
});

test("token keys that cannot be fetched are a 503 at both endpoints, and the first failure is logged", async () => {
  logged.length = 0;
  const headers = { authorization: "Bearer uncheckable", "content-type": "application/json" };
  for (const [path, method] of [
    ["/graphql", "POST"],
    ["/rest/v1/things", "GET"],
  ] as const) {
    const response = await fetch(url + path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
    expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "1"]);
  }
  expect(logged).toEqual([expect.stringContaining("no keys")]);
});

test("client errors are neither warnings nor quoted in the log", async () => {
  logged.length = 0;
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: '{"email": ada@example.org' };
  expect((await fetch(`${url}/rest/v1/things`, init)).status).toBe(400);
  expect(logged).toEqual([]);
});

test("a REST bug is masked, and logged in full", async () => {
  logged.length = 0;
  const response = await fetch(`${url}/rest/v1/things?limit=13`);
  const text = await response.text();
  expect([response.status, text.includes("passwords")]).toEqual([500, false]);
  expect(logged).toEqual([expect.stringContaining("passwords")]);
});

test("a page is cut at its size limit, and the rest follows by the cursor", async () => {
  const response = await fetch(`${url}/rest/v1/things?limit=3`);
  const body = (await response.json()) as { id: string }[];
  expect(body.map(({ id }) => id)).toEqual(["9"]);
  expect(Number(response.headers.get("content-length"))).toBeLessThan(pageBytesMax);
  const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
  expect(cursors.read("things", new URL(next, url).searchParams.get("cursor") ?? "")).toEqual({
    direction: "next",
    id: "9",
  });
});

test("a backward page that is cut omits the items farthest from its start", async () => {
  const cursor = cursors.write("things", { direction: "prev", id: "6" });
  const response = await fetch(`${url}/rest/v1/things?limit=3&cursor=${cursor}`);
  expect(((await response.json()) as { id: string }[]).map(({ id }) => id)).toEqual(["7"]);
  const links = response.headers.get("link") ?? "";
  const positions = ["prev", "next"].map((rel) => {
    const target = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(links)?.[1] ?? "";
    return cursors.read("things", new URL(target, url).searchParams.get("cursor") ?? "");
  });
  expect(positions).toEqual([
    { direction: "prev", id: "7" },
    { direction: "next", id: "7" },
  ]);
});

test("a route of another version and an unknown path are 404, with the path that the client of the REST proxy requested", async () => {
  const paths = [
    ["/rest/v1/next", "/v1/next"],
    ["/rest/v2/things?limit=5", "/v2/things"],
    ["/rest/v1/things/", "/v1/things/"],
    ["/rest/v1/THINGS", "/v1/THINGS"],
    ["/elsewhere", "/elsewhere"],
    ["/", "/"],
  ];
  for (const [path, instance] of paths) {
    const response = await fetch(url + path);
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    expect(await response.json()).toMatchObject({ instance });
  }
});

test("the public path is without `/rest`, which is removed only as a whole segment", () => {
  const paths = ["/rest/v1/users?limit=5", "/restaurants/1"].map((originalUrl) =>
    publicPath({ originalUrl } as Request),
  );
  expect(paths).toEqual(["/v1/users", "/restaurants/1"]);
});

test("a path that cannot be decoded is a problem document without internal details", async () => {
  const response = await fetch(`${url}/rest/v1/things/%zz`);
  const text = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
  expect(JSON.parse(text)).toMatchObject({ type: "/problems/malformed-request", instance: "/v1/things/%zz" });
  expect(text).not.toMatch(/node_modules|\.ts|URIError/);
});

test("a query may contain question marks", async () => {
  const statusOf = async (query: string) => (await fetch(`${url}/rest/v1/things?${query}`)).status;
  expect([await statusOf("limit=1"), await statusOf("limit=1?other=2")]).toEqual([200, 400]);
});

test("a body is JSON in UTF-8 without encoding, at most 64 KiB, or none", async () => {
  const post = async (body: string | Buffer | undefined, headers = {}) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
    };
    return (await fetch(`${url}/rest/v1/things`, init)).status;
  };
  expect(await post('{"a":1}')).toBe(201);
  expect(await post('{"a":1}', { "content-type": 'application/json; charset="UTF-8"' })).toBe(201);
  expect(await post(undefined)).toBe(204);
  expect(await post(Buffer.from([0x22, 0xff, 0x22]))).toBe(400);
  expect(await post('\ufeff{"a":1}')).toBe(400);
  expect(await post('{"a":{"b":1,"b":2}}')).toBe(400);
  expect(await post("{}", { "content-type": "application/json; charset=utf-8; charset=utf-16" })).toBe(415);
  expect(await post("{}", { "content-encoding": "gzip" })).toBe(415);
  expect(await post("{}", { "content-type": "application/merge-patch+json" })).toBe(415);
  expect(await post(JSON.stringify("x".repeat(65_536)))).toBe(413);
});

test("a client that disconnects in the middle of its body does not affect other requests", async () => {
  const request = httpRequest(`${url}/rest/v1/things`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": 50 },
  });
  request.on("error", () => {});
  await new Promise((resolve) => request.write("{", resolve));
  request.destroy();
  expect((await fetch(`${url}/rest/v1/things`, { method: "HEAD" })).status).toBe(200);
});
