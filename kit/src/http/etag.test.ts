import { expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import {
  anyVersion,
  createProjection,
  allowsVersion,
  isSameEtag,
  matchesIfNoneMatch,
  readPrecondition,
  requireVersion,
  writeEtag,
} from "./etag.ts";

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

test("weak comparison ignores whether a tag is weak", () => {
  expect([isSameEtag('W/"a"', '"a"'), isSameEtag('"a"', '"b"')]).toEqual([true, false]);
});

test("If-Match accepts lists and `*`, and never matches a weak entity tag", () => {
  const read = (ifMatch: string) => readPrecondition((name) => (name === "if-match" ? ifMatch : undefined));
  expect(read("*")).toEqual(anyVersion);
  expect(read('"3-v1-public", W/"4-v1-public", "nonsense", "5-v2-private"')).toEqual({ only: ["3", "5"], not: [] });
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
