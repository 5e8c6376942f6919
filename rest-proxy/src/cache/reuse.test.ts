import fc from "fast-check";
import { expect, test } from "vitest";
import { confirmsStored, isNotModified, validationConditions, validatorsOf } from "./conditional.ts";
import { freshenedHeaders } from "./freshening.ts";
import { isSameVaryKey, matchesVary, normalizeForVary, normalizedHeader, toVaryKey, varyFields } from "./vary.ts";

// Whether a stored response may be reused: conditions and validation (RFC 9111, 4.3), and Vary (4.1).

const nowMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toUTCString();
const tagged = validatorsOf(["ETag", '"a"', "Last-Modified", at(-10)], nowMs);
const dated = validatorsOf(["Date", at(-10)], nowMs);

test.each([
  [{ "if-none-match": '"a"' }, true],
  [{ "if-none-match": 'W/"a"' }, true],
  [{ "if-none-match": '"b", "a"' }, true],
  [{ "if-none-match": '"b", "c"' }, false],
  [{ "if-none-match": "*" }, true],
  [{ "if-none-match": "a" }, false],
  [{ "if-none-match": '"xa", "b,\\"a"' }, false],
  [{ "if-none-match": '"b"', "if-modified-since": at(0) }, false],
  [{ "if-modified-since": at(-10) }, true],
  [{ "if-modified-since": at(-11) }, false],
  [{ "if-modified-since": "yesterday" }, false],
  [{}, false],
])("%j matches the stored response: %s (RFC 9110, 13.1.2, 13.1.3, 13.2.2)", (headers, expected) => {
  expect(isNotModified(headers, tagged, nowMs)).toBe(expected);
});

test("without Last-Modified, the end of the second in Date counts (RFC 9111, 4.3.2)", () => {
  expect(isNotModified({ "if-modified-since": at(-9) }, dated, nowMs)).toBe(true);
  expect(isNotModified({ "if-modified-since": at(-10) }, dated, nowMs)).toBe(false);
  expect(isNotModified({ "if-none-match": '"a"' }, dated, nowMs)).toBe(false);
  expect(isNotModified({ "if-none-match": "" }, dated, nowMs)).toBe(false);
});

test("a stored response is validated with both of its validators (RFC 9111, 4.3.1)", () => {
  expect(validationConditions(["ETag", 'W/"a"', "Last-Modified", "x"])).toEqual([
    "If-None-Match",
    'W/"a"',
    "If-Modified-Since",
    "x",
  ]);
  expect(validationConditions(["Date", "x"])).toEqual([]);
});

test.each([
  [["ETag", '"a"'], ["ETag", '"a"'], true],
  [["ETag", '"b"'], ["ETag", '"a"'], false],
  [["ETag", '"a"'], ["ETag", 'W/"a"'], false],
  [["ETag", 'W/"a"'], ["ETag", '"a"'], true],
  [["ETag", 'W/"b"'], ["ETag", '"a"'], false],
  [[], ["ETag", '"a"'], true],
])("a 304 with %j confirms a stored response with %j: %s (RFC 9111, 4.3.4)", (update, stored, expected) => {
  expect(confirmsStored(update, stored)).toBe(expected);
});

test("a 304 replaces the fields that it has, except those about the stored body (RFC 9111, 3.2)", () => {
  const body = ["Content-Length", "3", "Content-Encoding", "br"];
  const stored = ["ETag", '"a"', "X", "1", "X", "2", "Kept", "k", "Age", "5", ...body];
  const update = ["etag", '"b"', "x", "3", "Content-Length", "0", "New", "n", "Content-Encoding", "gzip"];
  expect(freshenedHeaders(stored, update)).toEqual([
    ...["ETag", '"a"', "Kept", "k", "Content-Length", "3", "Content-Encoding", "br"],
    ...["x", "3", "New", "n"],
  ]);
});

test.each([
  [
    ["Vary", "Accept, accept-encoding"],
    ["accept", "accept-encoding"],
  ],
  [
    ["Vary", "B", "vary", "A, b"],
    ["a", "b"],
  ],
  [["Vary", ""], []],
  [[], []],
  [["Vary", "*"], "*"],
  [["Vary", ", *"], "*"],
  [["Vary", "Accept", "Vary", "*"], "*"],
])("%j varies by %j (RFC 9110, 12.5.5)", (headers, fields) => {
  expect(varyFields(headers)).toEqual(fields);
});

const request = (fields: Record<string, string>) => (field: string) => fields[field];

test("a request matches a response if it has the values of the request that fetched the response (RFC 9111, 4.1)", () => {
  const varyKey = toVaryKey(["a", "b"], request({ a: "1" }));
  expect(matchesVary(varyKey, request({ a: "1", c: "x" }))).toBe(true);
  expect(matchesVary(varyKey, request({ a: "2" }))).toBe(false);
  expect(matchesVary(varyKey, request({}))).toBe(false);
  expect(matchesVary(varyKey, request({ a: "1", b: "2" }))).toBe(false);
  expect(matchesVary(toVaryKey([], request({})), request({ a: "1" }))).toBe(true);
});

test("Vary keys are the same if fields and values are", () => {
  const varyKey = toVaryKey(["a"], request({ a: "1" }));
  expect(isSameVaryKey(varyKey, toVaryKey(["a"], request({ a: "1" })))).toBe(true);
  expect(isSameVaryKey(varyKey, toVaryKey(["a"], request({})))).toBe(false);
  expect(isSameVaryKey(varyKey, toVaryKey(["a", "b"], request({ a: "1" })))).toBe(false);
});

test.each([
  ["prefer", "1 ,\t2", "1,2"],
  ["prefer", "A,a", "A,a"],
  ["prefer", "a b;q = 1", "a b;q = 1"],
  ["prefer", "a\u00a0,b", "a\u00a0,b"],
  ["prefer", '"a, b", c', '"a, b", c'],
  ["prefer", "<a, b>", "<a, b>"],
  ["x-unknown", "a, b", "a, b"],
  ["accept-language", "de-AT , EN;Q=0.5", "de-at,en;q=0.5"],
  ["accept-language", "de ; q=0.5,en", "de;q=0.5,en"],
  ["accept-encoding", "BR, gzip", "br,gzip"],
  ["user-agent", "a, b", "a, b"],
  ["authorization", "Digest a=b, c=d", "Digest a=b, c=d"],
  ["if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"],
])("Vary compares the value of %s: %s as %s (RFC 9111, 4.1)", (field, value, normalized) => {
  expect(normalizeForVary(field, value)).toBe(normalized);
});

test("the order of Accept-Language distinguishes variants: servers may prefer the first of equal weights (RFC 9110, 12.5.4)", () => {
  expect(normalizeForVary("accept-language", "de, en")).not.toBe(normalizeForVary("accept-language", "en, de"));
});

/** Members of lists. In `opaque`, commas and spaces within a quoted string, a comment, an inner list or a URI are data (RFC 9110, 5.5). */
const tokens = ["a", "A", "b", "a b", "a;q=1", "a; q=1"];
const opaque = ["a\u00a0", '"a,b"', '"a, b"', '"a ,b"', '"\\", a"', "(a,b)", "(a, b)", "<a,b>", "<a, b>"];
const ranges = ["de", "DE", "de-at", "en", "en;q=0.5", "EN;Q=0.5", "en;q=0.6", "*"];
const whitespace = fc.constantFrom("", " ", "\t", " \t ");

const listOf = (members: readonly string[]) => fc.array(fc.constantFrom(...members), { minLength: 1, maxLength: 4 });
/** A list with this whitespace before and after each comma. */
const spell = (list: readonly string[], [before, after]: readonly [string, string]) => list.join(`${before},${after}`);
const separators = fc.tuple(whitespace, whitespace);

test("whitespace around the commas of a list does not distinguish variants", () => {
  fc.assert(
    fc.property(listOf(tokens), separators, (list, separator) => {
      expect(normalizeForVary("prefer", spell(list, separator))).toBe(spell(list, ["", ""]));
    }),
  );
});

test.each([
  ["prefer", [...tokens, ...opaque], (member: string) => member],
  ["accept-language", ranges, (member: string) => member.toLowerCase()],
] as const)("different values of %s are never equal to Vary", (field, members, meaning) => {
  fc.assert(
    fc.property(listOf(members), listOf(members), separators, separators, (a, b, aSeparators, bSeparators) => {
      fc.pre(a.map(meaning).join() !== b.map(meaning).join());
      expect(normalizeForVary(field, spell(a, aSeparators))).not.toBe(normalizeForVary(field, spell(b, bSeparators)));
    }),
    { numRuns: 2_000 },
  );
});

test.each(["authorization", "cookie", "if-modified-since", "user-agent", "x-unknown"])(
  "every character of %s counts: it is not known to be a list",
  (field) => {
    fc.assert(fc.property(fc.string(), (value) => normalizeForVary(field, value) === value));
  },
);

test.each(["constructor", "__proto__"])("a Vary that names %s means a header that no request has", (field) => {
  expect(normalizedHeader({}, field)).toBeUndefined();
});
