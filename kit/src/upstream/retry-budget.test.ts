import { expect, test } from "vitest";
import { createRetryBudget } from "./retry-budget.ts";

function setUp(limits: { perRequest: number; perSecond: number; burstMax: number }) {
  const clock = { nowMs: 0 };
  const budget = createRetryBudget(limits, () => clock.nowMs);
  const takeAll = () => {
    let taken = 0;
    while (taken < 1_000 && budget.takeRetry()) taken++;
    return taken;
  };
  return { clock, budget, takeAll };
}

test("a tenth of the requests may be retried once the burst is used up", () => {
  const { budget, takeAll } = setUp({ perRequest: 0.1, perSecond: 0, burstMax: 20 });
  expect(takeAll()).toBe(20);
  for (let i = 0; i < 105; i++) budget.deposit();
  expect(takeAll()).toBe(10);
});

test("each second adds retries", () => {
  const { clock, takeAll } = setUp({ perRequest: 0, perSecond: 3, burstMax: 20 });
  takeAll();
  clock.nowMs += 2_000;
  expect(takeAll()).toBe(6);
});

test("no more retries are saved than the burst", () => {
  const { clock, budget, takeAll } = setUp({ perRequest: 1, perSecond: 100, burstMax: 5 });
  clock.nowMs += 60_000;
  for (let i = 0; i < 100; i++) budget.deposit();
  expect(takeAll()).toBe(5);
});
