import fc from "fast-check";
import { expect, test } from "vitest";
import { isSameVaryKey, matchesVary, normalizedHeader, normalizeForVary, toVaryKey, varyFields } from "./vary.ts";

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
  ["foo", "1 ,\t2", "1,2"],
  ["foo", "A,a", "A,a"],
  ["foo", "a b;q = 1", "a b;q = 1"],
  ["foo", "a\u00a0,b", "a\u00a0,b"],
  ["foo", '"a, b", c', '"a, b", c'],
  ["foo", "<a, b>", "<a, b>"],
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

test("whitespace around commas does not distinguish variants", () => {
  fc.assert(
    fc.property(listOf(tokens), separators, (list, separator) => {
      expect(normalizeForVary("foo", spell(list, separator))).toBe(spell(list, ["", ""]));
    }),
  );
});

test.each([
  ["foo", [...tokens, ...opaque], (member: string) => member],
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

test.each(["authorization", "cookie", "if-modified-since", "user-agent"])(
  "%s is no list, so every character counts",
  (field) => {
    fc.assert(fc.property(fc.string(), (value) => normalizeForVary(field, value) === value));
  },
);

test.each(["constructor", "__proto__"])("a Vary that names %s means a header that no request has", (field) => {
  expect(normalizedHeader({}, field)).toBeUndefined();
});
