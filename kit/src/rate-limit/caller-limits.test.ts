import { expect, test } from "vitest";
import { createCallerLimits } from "./caller-limits.ts";
import { type RateDecision, retryAfterSecondsOf, toWholeSeconds } from "./rate-decision.ts";

// The limits of one process. leased-limit.test.ts tests shared limits.

let atMs = 1_000_000;
const ada = { key: "ada", address: "192.0.2.1" };
const grace = { key: "grace", address: "192.0.2.2" };

function limitsOf(readsPerMinute: number, o: { readonly callersMax?: number } = {}) {
  const limits = createCallerLimits({
    ...{ readsPerMinute, writesPerMinute: 2, callersMax: 1_000, processesMin: 1, nowMs: () => atMs },
    ...{ exempt: [], trustedProxies: [], storeUrl: undefined, storePassword: undefined },
    callers: { callerWithoutToken: () => grace },
    ...o,
  });
  const charge = (key: string, weight: number) => limits.charge({ key, address: "192.0.2.1" }, "reads", weight);
  const read = (key: string, weight = 1) => charge(key, weight) as RateDecision;
  const admitted = (key: string, charges: number) =>
    Array.from({ length: charges }, () => charge(key, 1)).filter((decision) => decision?.isAdmitted !== false).length;
  return { ...limits, read, admitted };
}

test.each([1, 7, 6_000])("a quota of %d units is admitted at once, and no further unit", (quota) => {
  expect(limitsOf(quota).admitted("ada", quota + 5)).toBe(quota);
});

test("over time, the quota of each window is admitted, however many requests are sent", () => {
  const limits = limitsOf(60);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    count += limits.admitted("ada", 10);
    atMs += 1_000;
  }
  expect(count).toBe(60 + 599);
});

test.each([1, 4])("a rejected charge of %d units is admitted after retryMs, and not a millisecond sooner", (weight) => {
  const limits = limitsOf(7);
  limits.admitted("ada", 7);
  const { retryMs } = limits.read("ada", weight);
  atMs += retryMs - 1;
  expect(limits.read("ada", weight).isAdmitted).toBe(false);
  atMs += 1;
  expect(limits.read("ada", weight).isAdmitted).toBe(true);
});

test("the decision contains what remains and when the whole quota is available", () => {
  const limits = limitsOf(6);
  const rest = { retryMs: 0 };
  expect(limits.read("ada")).toEqual({ ...rest, isAdmitted: true, remaining: 5, resetMs: 10_000 });
  atMs += 5_000;
  expect(limits.read("ada", 4)).toEqual({ ...rest, isAdmitted: true, remaining: 1, resetMs: 45_000 });
  expect(limits.read("ada", 2)).toEqual({ ...rest, isAdmitted: false, remaining: 1, resetMs: 45_000, retryMs: 5_000 });
});

test("a charge above the quota is too expensive, and costs nothing", () => {
  const limits = limitsOf(6);
  expect(limits.read("ada", 7)).toMatchObject({ isAdmitted: false, remaining: 6 });
  expect(limits.read("ada", 6)).toMatchObject({ isAdmitted: true, remaining: 0 });
});

test("a caller whose work was debited is rejected until the debt is replenished, at most for one window more", () => {
  const limits = limitsOf(60);
  limits.debit(ada, "reads", 90);
  expect(limits.read("ada")).toMatchObject({ isAdmitted: false, retryMs: 31_000 });
  limits.debit(ada, "reads", 1_000);
  expect(limits.read("ada")).toMatchObject({ isAdmitted: false, retryMs: 61_000 });
  expect(limits.read("grace").isAdmitted).toBe(true);
});

test("admit charges as charge does, and a refunded unit is admitted again", () => {
  const limits = limitsOf(2);
  expect(limits.admit(ada, "reads", 2)).toBeUndefined();
  expect(limits.admit(ada, "reads", 1)).toEqual(limits.read("ada"));
  limits.refund(ada, "reads", 1);
  expect(limits.admit(ada, "reads", 1)).toBeUndefined();
  expect(limits.admit(ada, "reads", 1)).toMatchObject({ isAdmitted: false });
});

test("the quota of requests is that of reads and writes together, and unlimited if one of them is", () => {
  expect(limitsOf(6).quotaOf("requests")).toBe(8);
  expect(limitsOf(0).quotaOf("requests")).toBe(0);
});

test("reads and writes are counted separately, and 0 is no limit", () => {
  const limits = limitsOf(0);
  expect(limits.admitted("ada", 10_000)).toBe(10_000);
  const writes = [1, 2, 3].map(() => limits.charge(ada, "writes", 1)?.isAdmitted);
  expect(writes).toEqual([true, true, false]);
});

test("the headers have the policy, what remains, and the seconds until the whole quota is available", () => {
  const limits = limitsOf(6);
  const headers: string[] = [];
  limits.addHeaders("reads", limits.read("ada", 2), headers);
  expect(headers).toEqual(["RateLimit-Policy", '"reads";q=6;w=60', "RateLimit", '"reads";r=4;t=20']);
});

test.each([
  [0, 0],
  [1, 1],
  [20_000, 20],
  [20_000 + 4e-12, 20],
  [20_001, 21],
])("%d ms are %d whole seconds", (ms, seconds) => {
  expect(toWholeSeconds(ms)).toBe(seconds);
});

test("Retry-After is rounded up, and at least 1", () => {
  const limits = limitsOf(600);
  limits.admitted("ada", 600);
  expect(retryAfterSecondsOf(limits.read("ada"))).toBe(1);
  expect(retryAfterSecondsOf(limits.read("ada", 15))).toBe(2);
});

test("the rotation of generations grants no additional requests", () => {
  const limits = limitsOf(60);
  let count = 0;
  for (let step = 0; step < 3_600; step++) {
    count += limits.admitted("ada", 3);
    atMs += 100;
  }
  expect(count).toBe(60 + 359);
});

test("a caller is dropped early only if there are more than callersMax callers", () => {
  const limits = limitsOf(2, { callersMax: 100 });
  limits.admitted("ada", 2);
  for (let other = 0; other < 99; other++) limits.read(`other ${other}`);
  expect(limits.read("ada").isAdmitted).toBe(false);
  for (let other = 0; other < 300; other++) limits.read(`further ${other}`);
  expect(limits.admitted("ada", 5)).toBe(2);
});
