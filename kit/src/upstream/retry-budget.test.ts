import { expect, test } from "vitest";
import { createRetryBudget } from "./retry-budget.ts";

function setUp(limits: { perRequest: number; perSecond: number; burstMax: number }) {
  const clock = { nowMs: 0 };
  const budget = createRetryBudget(limits, () => clock.nowMs);
  const withdrawAll = () => {
    let withdrawn = 0;
    while (withdrawn < 1_000 && budget.withdraw()) withdrawn++;
    return withdrawn;
  };
  return { clock, budget, withdrawAll };
}

test("a tenth of the requests may be retried once the burst is used up", () => {
  const { budget, withdrawAll } = setUp({ perRequest: 0.1, perSecond: 0, burstMax: 20 });
  expect(withdrawAll()).toBe(20);
  for (let i = 0; i < 105; i++) budget.deposit();
  expect(withdrawAll()).toBe(10);
});

test("each second adds retries", () => {
  const { clock, withdrawAll } = setUp({ perRequest: 0, perSecond: 3, burstMax: 20 });
  withdrawAll();
  clock.nowMs += 2_000;
  expect(withdrawAll()).toBe(6);
});

test("no more retries are saved than the burst", () => {
  const { clock, budget, withdrawAll } = setUp({ perRequest: 1, perSecond: 100, burstMax: 5 });
  clock.nowMs += 60_000;
  for (let i = 0; i < 100; i++) budget.deposit();
  expect(withdrawAll()).toBe(5);
});
