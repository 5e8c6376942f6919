import { expect, test } from "vitest";
import { readPolicy } from "./policy.ts";
import { type Candidate, isStorable, isWorthStoring, type Worth } from "./storable.ts";

function candidate(cacheControl: string | undefined, o: Partial<Candidate & Worth> = {}): Candidate & Worth {
  const policy = readPolicy(cacheControl === undefined ? [] : ["Cache-Control", cacheControl], [], 0);
  return {
    status: 200,
    policy,
    heuristicSeconds: 0,
    hasValidator: false,
    wasAuthorized: false,
    ...o,
  };
}

test.each<[string | undefined, Partial<Candidate & Worth>, boolean]>([
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

test.each<[string | undefined, Partial<Candidate & Worth>, boolean]>([
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
