import { expect, test } from "vitest";
import { readPolicy } from "./policy.ts";

const nowMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toUTCString();
const read = (...headers: string[]) => readPolicy(headers, ["cdn-cache-control"], nowMs);

test.each([
  [["Cache-Control", "max-age=60"], 60],
  [["Cache-Control", "max-age=60, s-maxage=10"], 10],
  [["Cache-Control", "s-maxage=0, max-age=60"], 0],
  [["Cache-Control", "max-age=60", "Expires", at(10)], 60],
  [["Expires", at(30), "Date", at(0)], 30],
  [["Expires", at(30), "Date", at(20)], 10],
  [["Expires", at(30)], 30],
  [["Expires", at(-30), "Date", at(0)], 0],
  [["Expires", "0"], 0],
  [["Expires", at(30), "Expires", at(60)], 30],
  [["Cache-Control", "public"], undefined],
])("%j is fresh for %s seconds (RFC 9111, 4.2.1)", (headers, seconds) => {
  expect(read(...headers).lifetimeSeconds).toBe(seconds);
});

test.each([
  [["CDN-Cache-Control", "max-age=10", "Cache-Control", "no-store"], { lifetimeSeconds: 10, noStore: false }],
  [["CDN-Cache-Control", "no-store", "Cache-Control", "max-age=10"], { lifetimeSeconds: undefined, noStore: true }],
  [["CDN-Cache-Control", "private", "Cache-Control", "public, max-age=10"], { isPrivate: true, isPublic: false }],
  [["CDN-Cache-Control", "max-age=10", "Expires", at(-10)], { lifetimeSeconds: 10 }],
  [
    ["CDN-Cache-Control", "max-age=10, stale-if-error=5", "Cache-Control", "s-maxage=1"],
    { neverStale: false, ifErrorSeconds: 5 },
  ],
  [["CDN-Cache-Control", "no-store=?0, max-age=1"], { noStore: false, lifetimeSeconds: 1 }],
])("%j: the targeted field replaces the others whole (RFC 9213, 2.2)", (headers, policy) => {
  expect(read(...headers)).toMatchObject(policy);
});

test.each([
  [""],
  ["&&&&&"],
  ['max-age="10"'],
  ["max-age=1.0"],
  ["max-age=-1"],
  ["max-age=10, max-age"],
  ["Max-Age=10"],
])("CDN-Cache-Control: %s is as if it were not there (RFC 9213, 2.1)", (text) => {
  expect(read("CDN-Cache-Control", text, "Cache-Control", "max-age=3, public")).toMatchObject({
    lifetimeSeconds: 3,
    isPublic: true,
  });
});

test.each([
  ["must-revalidate", { neverStale: true, admitsAuthorized: true }],
  ["proxy-revalidate", { neverStale: true, admitsAuthorized: false }],
  ["s-maxage=1", { neverStale: true, admitsAuthorized: true }],
  ["public", { neverStale: false, admitsAuthorized: true, isPublic: true }],
  ["private", { isPrivate: true }],
  ['private="x-user"', { isPrivate: true }],
  ["no-cache", { noCache: true }],
  ['no-cache="a, B"', { noCache: false, unstoredFields: ["a", "b"] }],
  ["no-store, must-understand", { noStore: true, mustUnderstand: true }],
  ["stale-while-revalidate=5, stale-if-error=6", { whileRevalidateSeconds: 5, ifErrorSeconds: 6 }],
])("Cache-Control: %s (RFC 9111, 5.2.2; RFC 5861)", (text, policy) => {
  expect(read("Cache-Control", text)).toMatchObject(policy);
});
