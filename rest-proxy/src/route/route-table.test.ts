import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { decodePathParameter } from "./path-parameter.ts";
import { createRouteCache, type CachedRoute } from "./route-cache.ts";
import { createRouteTable, upstreamPath } from "./route-table.ts";
import { loadRoutes, readRoutes, type Route } from "./routes.ts";

const table = createRouteTable([
  route("GET", "/things"),
  route("POST", "/things"),
  route("GET", "/things/:id"),
  route("PATCH", "/things/:thingId"),
  route("GET", "/things/newest"),
  route("GET", "/things/:id/parts", { service: "parts", versions: [1, 2] }),
  route("POST", "/things/:id/parts/:name/removal", { service: "parts" }),
]);

/** All upstream paths of the table in version 1, as a pattern. */
const language =
  /^\/rest\/v1\/things(?:\/(?!\.{1,2}(?:\/|$))(?:[A-Za-z0-9._~!'()*-]|%[0-9A-F]{2})+(?:\/parts(?:\/(?!\.{1,2}\/)(?:[A-Za-z0-9._~!'()*-]|%[0-9A-F]{2})+\/removal)?)?)?$/;

test("a path is found, and a literal segment has precedence over a parameter", () => {
  const idAt = (path: string, method = "GET") => table.find(1, path)?.routes.get(method)?.path;
  expect(idAt("/things")).toBe("/things");
  expect(idAt("/things/7")).toBe("/things/:id");
  expect(idAt("/things/7", "PATCH")).toBe("/things/:thingId");
  expect(idAt("/things/newest")).toBe("/things/newest");
  expect(idAt("/things/newest/parts")).toBe("/things/:id/parts");
  expect(idAt("/things/7/parts/a/removal", "POST")).toBe("/things/:id/parts/:name/removal");
  expect(table.find(1, "/things/7/parts/a")).toBeUndefined();
});

test("each service of a table is listed once", () => {
  expect(table.services).toEqual(["parts", "things"]);
});

test("two routes with the same method, version and path are rejected, with both names", () => {
  const routes = [route("GET", "/a/:id", { id: "one" }), route("GET", "/a/:other", { id: "two" })];
  expect(() => createRouteTable(routes)).toThrow("one and two are both GET /v1/a/:other");
});

test("every upstream path matches the routes of the table", () => {
  const escapes = ["%2e", "%2E%2e", "%2f", "%5c", "%252f", "%00", "%0d%0a", "", ";", "\\", "?", "#", "%", "é"];
  const literals = ["..", "../..", "things", "parts", "removal", "newest", "v1", "rest"];
  const hostile = fc.constantFrom(...escapes, ...literals);
  const segment = fc.oneof(
    hostile,
    fc.string({ maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }).map(encodeURIComponentOrNothing),
  );
  const path = fc.array(segment, { maxLength: 7 }).map((segments) => `/${segments.join("/")}`);
  const nearly = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/things/${segments.join("/")}`);
  let matches = 0;
  fc.assert(
    fc.property(fc.oneof(path, nearly, fc.string({ maxLength: 40 })), (text) => {
      const entry = table.find(1, text);
      if (entry) {
        matches += 1;
        const upstream = upstreamPath(entry.path, {}, 1);
        expect(upstream).toMatch(language);
        // A URL parser leaves it unchanged: no part of it is a dot segment, a host, a query or a fragment.
        expect(new URL(upstream, "http://service.example").pathname).toBe(upstream);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(matches).toBeGreaterThan(40);
});

test("a valid parameter keeps its value, and is decoded once", () => {
  const value = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    .filter((text) => text.isWellFormed() && !/^\.{1,2}$|[/\\%?#;\u0000-\u001f\u007f-\u009f]/.test(text));
  fc.assert(
    fc.property(value, value, (id, name) => {
      const path = `/things/${encodeURIComponent(id)}/parts/${encodeURIComponent(name)}/removal`;
      const entry = table.find(1, path);
      expect(entry?.params).toEqual([id, name]);
      expect(entry?.routes.has("POST")).toBe(true);
      expect(upstreamPath(entry?.path ?? "", {}, 1)).toBe(`/rest/v1${path}`);
    }),
    { numRuns: 500 },
  );
});

test("a path that is not in the table has no entry, however similar", () => {
  const mutation = fc.constantFrom<(path: string) => string>(
    (path) => `${path}/`,
    (path) => `/${path}`,
    (path) => path.replace("/", "//"),
    (path) => path.replace("things", "Things"),
    (path) => path.replace("things", "%74hings"),
    (path) => path.replace("things", "things;x"),
    (path) => path.replace("/things", "/./things"),
    (path) => path.replace("/things", "/x/../things"),
    (path) => `${path}/..`,
    (path) => `${path}/%2e%2e`,
    (path) => `${path}%2f`,
    (path) => `${path}%00`,
    (path) => path.slice(1),
  );
  const good = fc.constantFrom("/things", "/things/7", "/things/7/parts", "/things/7/parts/a/removal");
  fc.assert(
    fc.property(good, mutation, (path, mutate) => {
      expect(table.find(1, mutate(path))).toBeUndefined();
    }),
  );
});

function route(method: Route["method"], path: string, more: Partial<Route> = {}): Route {
  const id = `${method} ${path}`;
  const declared = { id, method, path, versions: [1], query: [], cache: "private", service: "things" } as const;
  return { ...declared, priority: "normal", summary: id, ...more };
}

function encodeURIComponentOrNothing(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : "";
}

const good = {
  id: "getThing",
  method: "GET",
  path: "/things/:id",
  versions: [1],
  cache: "private",
  service: "things",
  summary: "One.",
};

test("a table is read from its file; missing members have defaults", () => {
  const file = write(JSON.stringify({ routes: [good] }));
  expect(loadRoutes(file)).toEqual([{ ...good, query: [], priority: "normal" }]);
});

test("a write is critical and a read normal, unless the route declares another priority", () => {
  const read = (more: object) => readRoutes({ routes: [{ ...good, ...more }] })[0]?.priority;
  expect(["GET", "POST", "PATCH", "DELETE"].map((method) => read({ method }))).toEqual([
    "normal",
    "critical",
    "critical",
    "critical",
  ]);
  expect(read({ priority: "background" })).toBe("background");
  expect(read({ method: "POST", priority: "normal" })).toBe("normal");
  expect(() => read({ priority: "high" })).toThrow("routes[0].priority");
});

test.each([
  ["is missing", undefined, "it cannot be opened"],
  ["is half written", '{"routes": [', "it is not JSON"],
])("a file that %s is named in the error with the reason", (_name, text, reason) => {
  const file = text === undefined ? "/nowhere/routes.json" : write(text);
  expect(() => loadRoutes(file)).toThrow(`ROUTES_FILE=${file} cannot be read: ${reason}`);
});

test("all problems of a table are reported at once, with their positions", () => {
  const file = write(
    JSON.stringify({
      routes: [
        { ...good, method: "PUT", versions: [] },
        { ...good, path: "things/" },
      ],
    }),
  );
  expect(() => loadRoutes(file)).toThrow(
    new RegExp(`${file}: routes\\[0\\]\\.method: [^]*routes\\[0\\]\\.versions: [^]*routes\\[1\\]\\.path: `),
  );
});

test.each([1.5, 0, 86_401])("%s s of heuristic freshness are not valid", (heuristicSecondsMax) => {
  expect(() => readRoutes({ routes: [{ ...good, heuristicSecondsMax }] })).toThrow("routes[0].heuristicSecondsMax");
});

test("a path that no request could have, or that the proxy reserves, is not valid for a route", () => {
  const malformed = [
    "",
    "/",
    "/things/",
    "/Things",
    "/things//x",
    "/things/:",
    "/things/{id}",
    "/../x",
    "/a?b",
    "/%41",
  ];
  for (const path of [...malformed, "/v2/things", "/health/live"])
    expect(() => readRoutes({ routes: [{ ...good, path }] }), path).toThrow("routes[0].path");
});

test("an unknown member is rejected, with the nearest known one", () => {
  expect(() => readRoutes({ routes: [{ ...good, prefxi: "/api" }] })).toThrow(
    "routes[0]: prefxi is unknown; did you mean prefix?",
  );
  const idempotencyKey = { optional: [1], require: [] };
  expect(() => readRoutes({ routes: [{ ...good, method: "POST", idempotencyKey }] })).toThrow("did you mean required?");
  expect(() => readRoutes({ routes: [good], comment: "" })).toThrow("the file: comment is unknown");
});

test.each([null, [], {}, { routes: [] }, { routes: {} }, "routes"])("%j is not a valid table", (value) => {
  expect(() => readRoutes(value)).toThrow("The configuration is invalid");
});

function write(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "routes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "routes.json");
  writeFileSync(file, text);
  return file;
}

test("a parameter is decoded once", () => {
  for (const segment of ["1", "a.b", "...", ".a", "a:b@c", "x!$&'()*+,=y", "-_~"])
    expect(decodePathParameter(segment)).toBe(segment);
  expect(decodePathParameter("caf%C3%A9")).toBe("café");
  expect(decodePathParameter("a%20b")).toBe("a b");
  expect(decodePathParameter("a%3ab")).toBe("a:b");
});

test("a character that never needs encoding is rejected if it is encoded", () => {
  for (const character of "ABYZabyz0189-._~") {
    const code = character.charCodeAt(0).toString(16);
    expect(decodePathParameter(`x%${code}`)).toBeUndefined();
    expect(decodePathParameter(`x%${code.toUpperCase()}`)).toBeUndefined();
  }
});

test("a segment that is empty, a dot segment, not canonical or not text is no parameter", () => {
  const plain = ["", "..", "../..", "a/b", "a\\b", "a;b", "a b", "é", "a?b", "a#b", "%", "%2", "%zz"];
  const encoded = ["%2f", "%5C", "%3b", "%3F", "%23", "%25", "%00", "%0a", "%7f", "%c2%85", "%c0%af", "%ed%a0%80"];
  for (const segment of [...plain, ...encoded]) expect(decodePathParameter(segment), segment).toBeUndefined();
});

test("a parameter has at most 256 characters; an encoded byte counts as one", () => {
  expect(decodePathParameter("a".repeat(256))).toHaveLength(256);
  expect(decodePathParameter("a".repeat(257))).toBeUndefined();
  expect(decodePathParameter("%C3%A9".repeat(128))).toHaveLength(128);
  expect(decodePathParameter("%C3%A9".repeat(129))).toBeUndefined();
});

const cachedRoute = (resource: string) => ({ resource }) as CachedRoute;

test("a route is found by its target and Accept together, for GET only", () => {
  const cache = createRouteCache();
  cache.set("GET", "/a", "text/x", cachedRoute("/v1/a"));
  cache.set("POST", "/b", undefined, cachedRoute("/v1/b"));
  const resourceOf = (method: string, url: string, accept?: string) => cache.find(method, url, accept)?.resource;
  expect(resourceOf("GET", "/a", "text/x")).toBe("/v1/a");
  expect([resourceOf("GET", "/a"), resourceOf("GET", "/a", "text/y"), resourceOf("HEAD", "/a", "text/x")]).toEqual(
    Array.from({ length: 3 }),
  );
  expect([resourceOf("GET", "/b"), resourceOf("POST", "/b")]).toEqual([undefined, undefined]);
});

test("the oldest route is evicted beyond the limit, and a key that is too long is not stored", () => {
  const cache = createRouteCache();
  for (let i = 0; i <= 4_096; i++) cache.set("GET", `/${i}`, undefined, cachedRoute(`${i}`));
  const isCached = (url: string) => cache.find("GET", url, undefined) !== undefined;
  expect(["/0", "/1", "/4096"].map(isCached)).toEqual([false, true, true]);
  cache.set("GET", `/${"a".repeat(256)}`, undefined, cachedRoute("a"));
  expect(isCached(`/${"a".repeat(256)}`)).toBe(false);
});
