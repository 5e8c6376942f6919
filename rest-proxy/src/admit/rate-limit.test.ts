import { expect, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

let atMs = 1_000_000;
const nowMs = () => atMs;

function limitOf(quota: number, o: { readonly windowMs?: number; readonly clientsMax?: number } = {}) {
  const limit = createRateLimit({ quota, windowMs: 60_000, clientsMax: 1_000, nowMs, ...o });
  const admitted = (client: string, requests: number) =>
    Array.from({ length: requests }, () => limit.count(client)).filter(({ isAdmitted }) => isAdmitted).length;
  return { ...limit, admitted };
}

test.each([1, 3, 7, 60, 999, 6_000])("a quota of %d requests is admitted at once, and no further request", (quota) => {
  expect(limitOf(quota).admitted("ada", quota + 5)).toBe(quota);
});

test("over time, the quota of each window is admitted, however many requests are sent", () => {
  const limit = limitOf(60);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    count += limit.admitted("ada", 10);
    atMs += 1_000;
  }
  expect(count).toBe(60 + 599);
});

test("a client is admitted after retryMs, and not a millisecond sooner", () => {
  const limit = limitOf(7);
  limit.admitted("ada", 7);
  const { retryMs } = limit.count("ada");
  atMs += retryMs - 1;
  expect(limit.count("ada").isAdmitted).toBe(false);
  atMs += 1;
  expect(limit.count("ada").isAdmitted).toBe(true);
});

test("the decision contains what remains and when the whole quota is available", () => {
  const limit = limitOf(6);
  expect(limit.count("ada")).toEqual({ isAdmitted: true, remaining: 5, resetMs: 10_000, retryMs: 0 });
  atMs += 5_000;
  expect(limit.count("ada")).toEqual({ isAdmitted: true, remaining: 4, resetMs: 15_000, retryMs: 0 });
  limit.admitted("ada", 4);
  expect(limit.count("ada")).toEqual({ isAdmitted: false, remaining: 0, resetMs: 55_000, retryMs: 5_000 });
});

test("the requests of one client do not count for another", () => {
  const limit = limitOf(3);
  limit.admitted("ada", 10);
  expect(limit.admitted("grace", 10)).toBe(3);
});

test("the rotation of generations grants no additional requests", () => {
  const limit = limitOf(10, { windowMs: 1_000 });
  let count = 0;
  for (let step = 0; step < 1_000; step++) {
    count += limit.admitted("ada", 3);
    atMs += 10;
  }
  expect(count).toBe(10 + 99);
});

test("a client is dropped early only if there are more than clientsMax clients", () => {
  const limit = limitOf(2, { clientsMax: 100 });
  limit.admitted("ada", 2);
  for (let other = 0; other < 99; other++) limit.count(`other ${other}`);
  expect(limit.count("ada").isAdmitted).toBe(false);
  for (let other = 0; other < 300; other++) limit.count(`further ${other}`);
  expect(limit.admitted("ada", 5)).toBe(2);
});

test("a clock that is set back blocks no client", () => {
  const limit = limitOf(6);
  limit.admitted("ada", 6);
  atMs -= 3_600_000;
  atMs += limit.count("ada").retryMs;
  expect(limit.count("ada").isAdmitted).toBe(true);
});
