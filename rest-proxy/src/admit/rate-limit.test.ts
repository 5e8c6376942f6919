import { expect, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

let atMs = 1_000_000;
const nowMs = () => atMs;

function limitOf(quota: number, o: { readonly windowMs?: number; readonly callersMax?: number } = {}) {
  const limit = createRateLimit({ quota, windowMs: 60_000, callersMax: 1_000, nowMs, ...o });
  const admitted = (caller: string, requests: number) =>
    Array.from({ length: requests }, () => limit.take(caller)).filter(({ isAdmitted }) => isAdmitted).length;
  return { ...limit, admitted };
}

test.each([1, 3, 7, 60, 999, 6_000])("a quota of %d is admitted at once, and no request more", (quota) => {
  expect(limitOf(quota).admitted("ada", quota + 5)).toBe(quota);
});

test("what is admitted in the long run is the quota of each window, however eagerly one asks", () => {
  const limit = limitOf(60);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    count += limit.admitted("ada", 10);
    atMs += 1_000;
  }
  expect(count).toBe(60 + 599);
});

test("whoever waits as long as told is admitted, and not a moment sooner", () => {
  const limit = limitOf(7);
  limit.admitted("ada", 7);
  const { retryMs } = limit.take("ada");
  atMs += retryMs - 1;
  expect(limit.take("ada").isAdmitted).toBe(false);
  atMs += 1;
  expect(limit.take("ada").isAdmitted).toBe(true);
});

test("what remains and when all is back is told", () => {
  const limit = limitOf(6);
  expect(limit.take("ada")).toEqual({ isAdmitted: true, remaining: 5, resetMs: 10_000, retryMs: 0 });
  atMs += 5_000;
  expect(limit.take("ada")).toEqual({ isAdmitted: true, remaining: 4, resetMs: 15_000, retryMs: 0 });
  limit.admitted("ada", 4);
  expect(limit.take("ada")).toEqual({ isAdmitted: false, remaining: 0, resetMs: 55_000, retryMs: 5_000 });
});

test("one caller's requests take nothing of another's", () => {
  const limit = limitOf(3);
  limit.admitted("ada", 10);
  expect(limit.admitted("grace", 10)).toBe(3);
});

test("nobody gets more by the change of generations", () => {
  const limit = limitOf(10, { windowMs: 1_000 });
  let count = 0;
  for (let step = 0; step < 1_000; step++) {
    count += limit.admitted("ada", 3);
    atMs += 10;
  }
  expect(count).toBe(10 + 99);
});

test("a crowd of other callers makes a caller's past forgotten only once there are more than are remembered", () => {
  const limit = limitOf(2, { callersMax: 100 });
  limit.admitted("ada", 2);
  for (let other = 0; other < 99; other++) limit.take(`other ${other}`);
  expect(limit.take("ada").isAdmitted).toBe(false);
  for (let other = 0; other < 300; other++) limit.take(`another ${other}`);
  expect(limit.admitted("ada", 5)).toBe(2);
});

test("a clock that is put back locks nobody out", () => {
  const limit = limitOf(6);
  limit.admitted("ada", 6);
  atMs -= 3_600_000;
  atMs += limit.take("ada").retryMs;
  expect(limit.take("ada").isAdmitted).toBe(true);
});
