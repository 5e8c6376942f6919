import fc from "fast-check";
import { expect, test } from "vitest";
import { isFresh, toStoredHead } from "../entry.ts";

const receivedAtMs = Date.UTC(2026, 10, 21);
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

const at = (afterSeconds: number) => new Date(receivedAtMs + afterSeconds * 1_000).toUTCString();

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
      const times = { requestedAtMs: receivedAtMs - a.tookSeconds * 1_000, receivedAtMs };
      const received = { status: 200, headers: toHeaders(a), wasAuthorized: false, varyValueOf: () => undefined };
      const head = toStoredHead({ ...received, ...times }, ["cdn-cache-control"]);
      expect(head && isFresh(head, receivedAtMs + a.laterSeconds * 1_000)).toBe(isFreshByModel(a));
    }),
    { numRuns: 2_000 },
  );
});
