import { expect, test } from "vitest";
import { hasConditions, isNotModified, readUnmodifiedSince, toValidatorHeaders } from "./conditions.ts";

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
  [{ "if-none-match": `W/${metadata.etag}` }, 304],
  [{ "if-none-match": `"6-v1.abc123-public", W/"x,y",${metadata.etag}` }, 304],
  [{ "if-none-match": "*" }, 304],
  [{ "if-none-match": '"7-v1.abc123-private"' }, 200],
  [{ "if-none-match": "7-v1.abc123-public" }, 200],
  [{ "if-none-match": "" }, 200],
  [{ "if-match": '"8-v1.abc123-public"' }, 200],
  [{ "if-match": '"8-v1.abc123-public"', "if-none-match": metadata.etag }, 304],
  [{ "if-unmodified-since": earlier }, 200],
  [{ "if-unmodified-since": earlier, "if-none-match": metadata.etag }, 304],
  [{ "if-modified-since": at }, 304],
  [{ "if-modified-since": later }, 304],
  [{ "if-modified-since": earlier }, 200],
  [{ "if-modified-since": later, "if-none-match": '"6-v1.abc123-public"' }, 200],
  [{ "if-modified-since": "Friday, 02-Jan-26 03:04:05 GMT" }, 304],
  [{ "if-modified-since": "Fri Jan  2 03:04:05 2026" }, 304],
  [{ "if-modified-since": "Fri Jan  2 03:04:04 2026" }, 200],
  [{ "if-modified-since": "2026-01-02T03:04:05Z" }, 200],
  [{ "if-modified-since": "Fri, 32 Jan 2027 03:04:05 GMT" }, 200],
  [{ "if-modified-since": "Wed, 31 Feb 2027 03:04:05 GMT" }, 200],
  [{ "if-modified-since": "fri, 02 jan 2026 03:04:05 gmt" }, 304],
  [{ "if-modified-since": "Thursday, 02-Jan-70 03:04:05 GMT" }, 304],
];

for (const [conditions, status] of cases) {
  test(`${JSON.stringify(conditions)} leads to ${status}`, () => {
    expect(statusOf(conditions)).toBe(status);
    const isConditional = "if-none-match" in conditions || "if-modified-since" in conditions;
    expect(hasConditions((name) => conditions[name])).toBe(isConditional);
  });
}

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
