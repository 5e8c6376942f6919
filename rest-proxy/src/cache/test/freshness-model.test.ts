import fc from "fast-check";
import { expect, test } from "vitest";
import { isFresh, toStoredHead } from "../entry.ts";

const cameMs = Date.UTC(2026, 10, 21);
const seconds = fc.integer({ min: 0, max: 50 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const answers = fc.record({
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

type Answer = typeof answers extends fc.Arbitrary<infer T> ? T : never;

const at = (afterSeconds: number) => new Date(cameMs + afterSeconds * 1_000).toUTCString();

function toHeaders(a: Answer): string[] {
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

/** RFC 9111, 4.2, once more and as plainly as can be. */
function isFreshByTheBook(a: Answer): boolean {
  const date = -(a.dateAgo ?? 0);
  const byExpires = a.expiresIn === undefined ? 0 : Math.max(0, a.expiresIn - date);
  const lifetime = a.targeted ?? a.sharedMaxAge ?? a.maxAge ?? byExpires;
  const initialAge = Math.max(Math.max(0, -date), (a.age ?? 0) + a.tookSeconds);
  return !(a.noCache && a.targeted === undefined) && lifetime > initialAge + a.laterSeconds;
}

test("an answer is fresh exactly when the book says so", () => {
  fc.assert(
    fc.property(answers, (a) => {
      const exchanged = { requestedAtMs: cameMs - a.tookSeconds * 1_000, receivedAtMs: cameMs };
      const answer = { status: 200, headers: toHeaders(a), wasAuthorized: false, selecting: () => undefined };
      const head = toStoredHead(
        { ...answer, ...exchanged },
        { targetedFields: ["cdn-cache-control"], heuristicSecondsMax: 0 },
      );
      expect(head && isFresh(head, cameMs + a.laterSeconds * 1_000)).toBe(isFreshByTheBook(a));
    }),
    { numRuns: 2_000 },
  );
});
