import fc from "fast-check";
import { expect, test } from "vitest";
import { createRouteTable, upstreamPath } from "./route-table.ts";
import type { Route } from "./routes.ts";

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

test("HEAD exists wherever GET does, and Allow lists every method of a path", () => {
  expect(table.find(1, "/things")?.allow).toBe("GET, HEAD, POST, OPTIONS");
  expect(table.find(1, "/things/7")?.allow).toBe("GET, HEAD, PATCH, OPTIONS");
  expect(table.find(1, "/things/7")?.routes.get("HEAD")).toBe(table.find(1, "/things/7")?.routes.get("GET"));
});

test("a version has only the routes that declare it", () => {
  expect(table.find(2, "/things/7/parts")).toBeDefined();
  expect(table.find(2, "/things/7")).toBeUndefined();
  expect(table.find(3, "/things")).toBeUndefined();
});

test("each service of a table is listed once", () => {
  expect(table.services).toEqual(["parts", "things"]);
});

test("two routes with the same method, version and path are rejected, with both names", () => {
  const routes = [route("GET", "/a/:id", { id: "one" }), route("GET", "/a/:other", { id: "two" })];
  expect(() => createRouteTable(routes)).toThrow("one and two are both GET /v1/a/:other");
});

test("every upstream path matches the routes of the table", () => {
  const hostile = fc.constantFrom(
    ...[
      "..",
      "../..",
      "%2e",
      "%2E%2e",
      "%2f",
      "%5c",
      "%252f",
      "%00",
      "%0d%0a",
      "",
      ";",
      "things",
      "parts",
      "removal",
      "newest",
      "v1",
      "rest",
      "\\",
      "?",
      "#",
      "%",
      "é",
    ],
  );
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
        const upstream = upstreamPath(entry.path);
        expect(upstream).toMatch(language);
        // A URL parser leaves it unchanged: no part of it is a dot segment, a host, a query or a fragment.
        expect(new URL(upstream, "http://service.example").pathname).toBe(upstream);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(matches).toBeGreaterThan(100);
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
      expect(upstreamPath(entry?.path ?? "")).toBe(`/rest/v1${path}`);
    }),
    { numRuns: 2_000 },
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
  return { id, method, path, versions: [1], query: [], cache: "private", service: "things", summary: id, ...more };
}

function encodeURIComponentOrNothing(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : "";
}
