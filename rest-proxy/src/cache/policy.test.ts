import fc from "fast-check";
import { expect, test } from "vitest";
import { ageSeconds, ageValueSeconds, endToEndHeaders, generatedAtMs, isFresh, toStoredHead } from "./entry.ts";
import {
  heuristicSeconds,
  isStorable,
  isWorthStoring,
  parseCacheControl,
  readPolicy,
  secondsOf,
  type StorageCandidate,
  type StorageWorth,
} from "./policy.ts";

const nowMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toUTCString();
const read = (...headers: string[]) => readPolicy(headers, nowMs);

test.each([
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
  [["CDN-Cache-Control", "no-cache", "Cache-Control", "max-age=10"], { noCache: true, lifetimeSeconds: undefined }],
  [["CDN-Cache-Control", "max-age=10", "Expires", at(-10)], { lifetimeSeconds: 10 }],
  [
    ["CDN-Cache-Control", "max-age=10, stale-if-error=5", "Cache-Control", "s-maxage=1"],
    { neverStale: false, ifErrorSeconds: 5 },
  ],
  [["CDN-Cache-Control", "no-store=?0, max-age=1"], { noStore: false, lifetimeSeconds: 1 }],
])("%j: the targeted field replaces all others (RFC 9213, 2.2)", (headers, policy) => {
  expect(read(...headers)).toMatchObject(policy);
});

test.each([
  [""],
  ["&&&&&"],
  ["max-age=10, &&&&&"],
  ['max-age="10"'],
  ["max-age=1.0"],
  ["max-age=-1"],
  ["max-age=10, max-age"],
  ["Max-Age=10"],
])("CDN-Cache-Control: %s is ignored (RFC 9213, 2.1)", (text) => {
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

test.each([
  ["max-age=60, public", { "max-age": "60", public: true }],
  ["MAX-AGE=60", { "max-age": "60" }],
  ['max-age="60"', { "max-age": "60" }],
  ['private="a, no-store", max-age=1', { private: "a, no-store", "max-age": "1" }],
  ['x="max-age=3600", max-age=1', { x: "max-age=3600", "max-age": "1" }],
  ["max-age=60, max-age=10", { "max-age": "60" }],
  [",, public ,", { public: true }],
  ['x="open, no-store', { "no-store": true }],
  ["max-age =60, no-store", { "no-store": true }],
  ["max-age= 60, public", { public: true }],
  ["a b, public", { public: true }],
  [undefined, {}],
])("%j is read as %j (RFC 9111, 5.2)", (text, directives) => {
  expect(Object.fromEntries(parseCacheControl(text))).toEqual(directives);
});

test.each([
  ["max-age=60", 60],
  ["max-age=0060", 60],
  ["max-age=99999999999", 2 ** 31],
  ["max-age=-1", 0],
  ["max-age=1.5", 0],
  ["max-age='60'", 0],
  ["max-age", 0],
  ["public", undefined],
])("%s is %s seconds (RFC 9111, 1.2.2 and 4.2.1)", (text, seconds) => {
  expect(secondsOf(parseCacheControl(text), "max-age")).toBe(seconds);
});

type Inputs = StorageCandidate & StorageWorth;

function candidate(cacheControl: string | undefined, o: Partial<Inputs> = {}): Inputs {
  const policy = readPolicy(cacheControl === undefined ? [] : ["Cache-Control", cacheControl], 0);
  return {
    status: 200,
    policy,
    heuristicSeconds: 0,
    hasValidator: false,
    wasAuthorized: false,
    ...o,
  };
}

test.each<[string | undefined, Partial<Inputs>, boolean]>([
  ["max-age=1", {}, true],
  [undefined, {}, true],
  [undefined, { status: 201 }, false],
  ["max-age=1", { status: 201 }, true],
  ["public", { status: 201 }, true],
  ["max-age=1", { status: 599 }, true],
  ["max-age=1, must-understand", { status: 599 }, false],
  ["max-age=1, must-understand, no-store", {}, true],
  ["max-age=1, no-store", {}, false],
  ["max-age=1, private", {}, false],
  ["max-age=1", { status: 206 }, false],
  ["max-age=1", { status: 304 }, false],
  ["max-age=1", { wasAuthorized: true }, false],
  ["max-age=1, public", { wasAuthorized: true }, true],
  ["s-maxage=1", { wasAuthorized: true }, true],
  ["max-age=1, must-revalidate", { wasAuthorized: true }, true],
  ["max-age=1, proxy-revalidate", { wasAuthorized: true }, false],
])("Cache-Control: %s with %j may be stored: %s (RFC 9111, 3 and 3.5)", (cacheControl, o, expected) => {
  expect(isStorable(candidate(cacheControl, o))).toBe(expected);
});

test.each<[string | undefined, Partial<Inputs>, boolean]>([
  ["max-age=1", {}, true],
  ["max-age=0", {}, false],
  ["max-age=0", { hasValidator: true }, true],
  ["no-cache, max-age=1", {}, false],
  ["no-cache", { hasValidator: true }, true],
  [undefined, { heuristicSeconds: 1 }, true],
  ["max-age=0, stale-if-error=5", {}, true],
  ["max-age=0, stale-while-revalidate=5, must-revalidate", {}, false],
])("Cache-Control: %s with %j is worth storing: %s", (cacheControl, o, expected) => {
  expect(isWorthStoring(candidate(cacheControl, o))).toBe(expected);
});

test.each([
  { status: 200, isPublic: false, changed: -1_000, seconds: 100 },
  { status: 404, isPublic: false, changed: -1_000, seconds: 100 },
  { status: 201, isPublic: false, changed: -1_000, seconds: 0 },
  { status: 201, isPublic: true, changed: -1_000, seconds: 100 },
  { status: 200, isPublic: false, changed: -10_000_000, seconds: 3_600 },
  { status: 200, isPublic: false, changed: 10, seconds: 0 },
])(
  "a $status whose Last-Modified is $changed s after Date is heuristically fresh for $seconds s (RFC 9111, 4.2.2)",
  (o) => {
    const headers = ["Last-Modified", at(o.changed), "Date", at(0)];
    expect(heuristicSeconds({ ...o, headers }, { receivedAtMs: nowMs, heuristicSecondsMax: 3_600 })).toBe(o.seconds);
  },
);

test.each([
  [["Age", "7"], 7],
  [["Age", "7, 0"], 7],
  [["Age", "0", "Age", "7"], 0],
  [["Age", "-7"], 0],
  [["Age", "7.5"], 0],
  [["Age", "7;a=b"], 0],
  [["Age", "99999999999"], 2 ** 31],
  [[], 0],
])("%j is an age of %s seconds (RFC 9111, 5.1)", (headers, seconds) => {
  expect(ageValueSeconds(headers)).toBe(seconds);
});

test.each([
  { headers: [], delayMs: 0, age: 0 },
  { headers: ["Date", at(-5)], delayMs: 0, age: 5 },
  { headers: ["Date", at(5)], delayMs: 0, age: 0 },
  { headers: ["Age", "7", "Date", at(0)], delayMs: 0, age: 7 },
  { headers: ["Age", "7", "Date", at(-9)], delayMs: 0, age: 9 },
  { headers: ["Age", "7", "Date", at(-8)], delayMs: 2_000, age: 9 },
])(
  "with $headers and a response delay of $delayMs ms, the age is $age s (RFC 9111, 4.2.3)",
  ({ headers, delayMs, age }) => {
    const head = { generatedAtMs: generatedAtMs(headers, { requestedAtMs: nowMs - delayMs, receivedAtMs: nowMs }) };
    expect(ageSeconds(head, nowMs)).toBe(age);
    expect(ageSeconds(head, nowMs + 3_999)).toBe(age + 3);
  },
);

test("an age is never negative, even after the clock was set back", () => {
  expect(ageSeconds({ generatedAtMs: nowMs }, nowMs - 5_000)).toBe(0);
});

test("hop-by-hop and unstored fields are not stored (RFC 9111, 3.1)", () => {
  const headers = [
    "Connection",
    "A, close",
    "a",
    "1",
    "B",
    "2",
    "Keep-Alive",
    "x",
    "C",
    "3",
    "Link",
    "<a>",
    "Link",
    "<b>",
  ];
  const more = ["Transfer-Encoding", "chunked", "Proxy-Authenticate", "Basic"];
  expect(endToEndHeaders([...headers, ...more], ["c"])).toEqual(["B", "2", "Link", "<a>", "Link", "<b>"]);
});

const seconds = fc.integer({ min: 0, max: 50 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const responses = fc.record({
  maxAge: maybe(seconds),
  sharedMaxAge: maybe(seconds),
  targeted: maybe(seconds),
  expiresIn: maybe(fc.integer({ min: -20, max: 50 })),
  dateAgo: maybe(fc.integer({ min: -10, max: 30 })),
  age: maybe(seconds),
  tookSeconds: fc.integer({ min: 0, max: 5 }),
  noCache: fc.boolean(),
  laterSeconds: fc.integer({ min: 0, max: 100 }),
});

type ModelResponse = typeof responses extends fc.Arbitrary<infer T> ? T : never;

function toHeaders(a: ModelResponse): string[] {
  const directives = [
    ...(a.maxAge === undefined ? [] : [`max-age=${a.maxAge}`]),
    ...(a.sharedMaxAge === undefined ? [] : [`s-maxage=${a.sharedMaxAge}`]),
    ...(a.noCache ? ["no-cache"] : []),
  ];
  return [
    ...["ETag", '"a"', "Cache-Control", directives.join(", ")],
    ...(a.targeted === undefined ? [] : ["CDN-Cache-Control", `max-age=${a.targeted}`]),
    ...(a.expiresIn === undefined ? [] : ["Expires", at(a.expiresIn)]),
    ...(a.dateAgo === undefined ? [] : ["Date", at(-a.dateAgo)]),
    ...(a.age === undefined ? [] : ["Age", String(a.age)]),
  ];
}

/** An independent model of RFC 9111, 4.2. */
function isFreshByModel(a: ModelResponse): boolean {
  const date = -(a.dateAgo ?? 0);
  const byExpires = a.expiresIn === undefined ? 0 : Math.max(0, a.expiresIn - date);
  const lifetime = a.targeted ?? a.sharedMaxAge ?? a.maxAge ?? byExpires;
  const initialAge = Math.max(Math.max(0, -date), (a.age ?? 0) + a.tookSeconds);
  return !(a.noCache && a.targeted === undefined) && lifetime > initialAge + a.laterSeconds;
}

test("a response is fresh exactly if the model is", () => {
  fc.assert(
    fc.property(responses, (a) => {
      const times = { requestedAtMs: nowMs - a.tookSeconds * 1_000, receivedAtMs: nowMs };
      const received = { status: 200, headers: toHeaders(a), wasAuthorized: false, varyValueOf: () => undefined };
      const head = toStoredHead({ ...received, ...times });
      expect(head && isFresh(head, nowMs + a.laterSeconds * 1_000)).toBe(isFreshByModel(a));
    }),
    { numRuns: 2_000 },
  );
});

/** Pieces of valid and invalid header values. */
const pieces = 'a b 0 12 - . , ; " \\ ( ) ?1 : @ % * & ü = max-age =10'.split(" ").concat(" ", "\t");
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));

test("no header of an origin makes toStoredHead throw", () => {
  fc.assert(
    fc.property(text, text, text, (cacheControl, targeted, groups) => {
      const headers = [
        "Cache-Control",
        cacheControl,
        "CDN-Cache-Control",
        targeted,
        "Cache-Groups",
        groups,
        "Age",
        groups,
      ];
      const received = {
        status: 200,
        headers,
        requestedAtMs: 0,
        receivedAtMs: 0,
        wasAuthorized: false,
        varyValueOf: () => undefined,
        heuristicSecondsMax: 10,
      };
      toStoredHead(received);
    }),
  );
});

test("a no-store after a comma is found after any text", () => {
  fc.assert(
    fc.property(
      text.filter((before) => !before.includes('"')),
      (before) => parseCacheControl(`${before}, no-store`).has("no-store"),
    ),
  );
});
