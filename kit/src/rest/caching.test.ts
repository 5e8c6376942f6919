import { expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import {
  anyVersion,
  createProjection,
  allowsVersion,
  matchesIfNoneMatch,
  readPrecondition,
  requireVersion,
  writeEtag,
} from "../http/etag.ts";
import {
  type Audience,
  doesVaryByCaller,
  nameGroup,
  SharedMissingError,
  toCachingHeaders,
  writeGroups,
} from "./caching.ts";
import { hasConditions, isNotModified, readUnmodifiedSince, toValidatorHeaders } from "./conditions.ts";
import type { RouteDeclaration } from "./routes.ts";

const freshness = {
  browserSeconds: 2,
  sharedSeconds: 10,
  staleWhileRevalidateSeconds: 20,
  staleIfErrorSeconds: 300,
};

test("a public route's response may be stored by shared caches for its declared freshness", () => {
  expect(headersOf({ cache: "public", freshness }, "everyone")).toEqual({
    "Cache-Control": "public, max-age=2, s-maxage=10",
    "CDN-Cache-Control": "public, max-age=10",
    "Tributary-Cache-Control": "public, max-age=10, stale-while-revalidate=20, stale-if-error=300",
    "Cache-Groups": '"things", "thing-1"',
  });
});

test("a route without freshness requires revalidation, and one with cache `none` is not stored", () => {
  expect(headersOf({ cache: "public" }, "everyone")["Cache-Control"]).toBe("no-cache");
  expect(toCachingHeaders(route({ cache: "none" }), false, undefined)).toEqual({ "Cache-Control": "no-store" });
});

test("a response for one caller is private and varies by Authorization, on every route", () => {
  for (const more of [{ cache: "public", freshness } as const, { cache: "private" } as const]) {
    expect(headersOf(more, "caller")).toMatchObject({ Vary: "Authorization", "Cache-Control": "private, no-cache" });
    expect(headersOf(more, "caller")).not.toHaveProperty("CDN-Cache-Control");
  }
  expect(headersOf({ cache: "private" }, undefined)["Cache-Control"]).toBe("private, no-cache");
});

test("a private route's response that is the same for all callers may be stored, with revalidation", () => {
  expect(headersOf({ cache: "private" }, "everyone")["Cache-Control"]).toBe("no-cache");
});

test("a `privateWith` parameter makes a public route's response private, whatever its handler returns", () => {
  const more = { cache: "public", freshness, query: ["status", "limit"], privateWith: ["status"] } as const;
  expect(headersOf(more, "everyone", ["limit"])).toHaveProperty("CDN-Cache-Control");
  expect(headersOf(more, "everyone", ["limit", "status"])).toMatchObject({
    Vary: "Authorization",
    "Cache-Control": "private, no-cache",
  });
});

test("cache groups have names that every cache supports", () => {
  expect(writeGroups(["things", "thing-PRINT-1"])).toBe('"things", "thing-PRINT-1"');
  for (const invalid of [[""], ["x".repeat(33)], ['"'], ["\\"], ["é"], Array.from({ length: 33 }, () => "x")]) {
    expect(() => writeGroups(invalid)).toThrow("invalid cache groups");
  }
});

test("the group of an id has a name that every cache supports, and differs for each id", () => {
  expect(nameGroup("gadget-shop:", "42")).toBe("gadget-shop:42");
  const longest = "9223372036854775807";
  expect(nameGroup("x".repeat(13), longest)).toBe(`${"x".repeat(13)}${longest}`);
  const names = [longest, "9223372036854775806"].map((id) => nameGroup("gadget-shop:on-", id));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(writeGroups([name])).toMatch(/^"gadget-shop:on-[0-9a-f]{17}"$/);
});

test("an error with an invalid group is not created, since its headers could not be written", () => {
  const missing = new AppError("NOT_FOUND", "No such thing.");
  expect(new SharedMissingError(missing, ["thing-1"]).groups).toEqual(["thing-1"]);
  expect(() => new SharedMissingError(missing, ["x".repeat(33)])).toThrow("invalid cache groups");
});

function headersOf(more: Partial<RouteDeclaration>, audience: Audience | undefined, names: readonly string[] = []) {
  const declared = route(more);
  const metadata = audience && { etag: '"1"', audience, groups: ["things", "thing-1"] };
  return toCachingHeaders(declared, doesVaryByCaller(declared, new Set(names)), metadata);
}

function route(more: Partial<RouteDeclaration>): RouteDeclaration {
  return { id: "one", method: "GET", path: "/things", versions: [1], cache: "public", summary: "Things", ...more };
}

const lastModified = new Date("2026-01-02T03:04:05.678Z");
const metadata = { etag: '"7-v1.abc123-public"', lastModified, audience: "everyone", groups: [] } as const;
const nowMs = lastModified.getTime() + 60_000;

const at = "Fri, 02 Jan 2026 03:04:05 GMT";
const earlier = "Fri, 02 Jan 2026 03:04:04 GMT";
const later = "Fri, 02 Jan 2026 03:04:06 GMT";

/** The conditions of a GET, and the status that follows: RFC 9110, 13.1 and 13.2.2, without the two that only changes have. */
const cases: readonly (readonly [conditions: Record<string, string>, status: 200 | 304])[] = [
  [{}, 200],
  [{ "if-none-match": metadata.etag }, 304],
  [{ "if-none-match": '"7-v1.abc123-private"' }, 200],
  [{ "if-match": '"8-v1.abc123-public"' }, 200],
  [{ "if-match": '"8-v1.abc123-public"', "if-none-match": metadata.etag }, 304],
  [{ "if-unmodified-since": earlier }, 200],
  [{ "if-unmodified-since": earlier, "if-none-match": metadata.etag }, 304],
  [{ "if-modified-since": at }, 304],
  [{ "if-modified-since": later }, 304],
  [{ "if-modified-since": earlier }, 200],
  [{ "if-modified-since": later, "if-none-match": '"6-v1.abc123-public"' }, 200],
  [{ "if-modified-since": "2027-01-02T03:04:05Z" }, 200],
];

test.each(cases)("the conditions %j lead to %i", (conditions, status) => {
  expect(statusOf(conditions)).toBe(status);
  const isConditional = "if-none-match" in conditions || "if-modified-since" in conditions;
  expect(hasConditions((name) => conditions[name])).toBe(isConditional);
});

test("a row without a time of change, or one changed within the last minute, has no Last-Modified", () => {
  const { lastModified: _, ...undated } = metadata;
  expect(statusOf({ "if-modified-since": later }, undated)).toBe(200);
  expect(statusOf({ "if-modified-since": later }, metadata, nowMs - 1)).toBe(200);
  expect(toValidatorHeaders(undated, nowMs)).toEqual({ ETag: metadata.etag });
  expect(toValidatorHeaders(metadata, nowMs - 1)).toEqual({ ETag: metadata.etag });
  expect(toValidatorHeaders(metadata, nowMs)).toEqual({ ETag: metadata.etag, "Last-Modified": at });
});

test("If-Unmodified-Since applies to a change without If-Match", () => {
  const read = (conditions: Record<string, string>) => readUnmodifiedSince((name) => conditions[name]);
  expect(read({ "if-unmodified-since": at })).toEqual(new Date("2026-01-02T03:04:05Z"));
  expect(read({ "if-unmodified-since": at, "if-match": "*" })).toBeUndefined();
  expect(read({ "if-unmodified-since": "yesterday" })).toBeUndefined();
  expect(read({})).toBeUndefined();
});

function statusOf(conditions: Record<string, string>, of: Parameters<typeof isNotModified>[1] = metadata, now = nowMs) {
  return isNotModified((name) => conditions[name], of, now) ? 304 : 200;
}

test.each([
  ['"a"', '"a"', true],
  ['W/"a"', '"a"', true],
  ['"a"', 'W/"a"', true],
  ['W/"a"', 'W/"a"', true],
  ['"b", "a"', '"a"', true],
  ['"b","c,d", W/"a"', '"a"', true],
  ['"b", "c"', '"a"', false],
  ['"a,b"', '"a"', false],
  ['"xa", "b,\\"a"', '"a"', false],
  ["a", '"a"', false],
  ["", '"a"', false],
  [" * ", '"a"', true],
])("If-None-Match: %s matches the entity tag %s: %s (RFC 9110, 8.8.3.2 and 13.1.2)", (header, etag, expected) => {
  expect(matchesIfNoneMatch(header, etag)).toBe(expected);
});

test("If-Match accepts lists, `*`, and tags that an intermediary has made weak", () => {
  const read = (ifMatch: string) => readPrecondition((name) => (name === "if-match" ? ifMatch : undefined));
  expect(read("*")).toEqual(anyVersion);
  expect(read('"3-v1-public", W/"4-v1-public", W/"nonsense", "5-v2-private"').only).toEqual(["3", "4", "5"]);
  expect(read('"3-v1,x", "4-v1"').only).toEqual(["3", "4"]);
  expect(read(writeEtag("3", { version: 1, revision: "a1b2c3" }, "public")).only).toEqual(["3"]);
  expect(read("nonsense").only).toEqual([]);
  expect(() => readPrecondition(() => undefined)).toThrow(AppError);
  expect(readPrecondition(() => undefined, "optional")).toEqual(anyVersion);
});

test("If-None-Match excludes the versions that it names, and `*` excludes every existing row", () => {
  const read = (ifNoneMatch: string) =>
    readPrecondition((name) => (name === "if-none-match" ? ifNoneMatch : undefined), "optional");
  expect(read('"3-v1-public", W/"4-v1-public", "nonsense"')).toEqual({ only: null, not: ["3", "4"] });
  expect(read("*").only).toEqual([]);
  expect(["3", "4", "5"].map((version) => allowsVersion(read('"3-v1-public", W/"4-v1-public"'), version))).toEqual([
    false,
    false,
    true,
  ]);
  expect(readPrecondition(() => '"3-v1-public"')).toEqual({ only: ["3"], not: ["3"] });
});

test("an update of a version that the condition does not name fails", () => {
  expect(() => requireVersion({ only: ["3"], not: [] }, "4")).toThrow("changed");
  requireVersion({ only: ["3", "4"], not: [] }, "4");
  requireVersion(anyVersion, "4");
});

test("an ETag contains the row version, the projection with its revision, and the view", () => {
  const projection = createProjection(2, [{ id: "1", title: "A" }]);
  expect(projection).toEqual({ version: 2, revision: expect.stringMatching(/^[0-9a-f]{6}$/) });
  expect(writeEtag("3", projection, "public")).toBe(`"3-v2.${projection.revision}-public"`);
  expect(createProjection(2, [{ id: "1", title: "A" }])).toEqual(projection);
  expect(createProjection(2, [{ id: "1", name: "A" }]).revision).not.toBe(projection.revision);
});
