import { expect, test } from "vitest";
import { limitOf, replicasFor } from "./capacity-tables.ts";
import { findHighestRate, type RateResult } from "./ramp.ts";

const resultAt = (perSecond: number, overrides: Partial<RateResult>): RateResult => ({
  perSecond,
  requests: perSecond,
  failures: 0,
  p99Ms: 1,
  sendDelayMsMax: 0,
  cpuSeconds: new Map(),
  seconds: 1,
  ...overrides,
});

test.each([
  ["is too late", { p99Ms: 101 }],
  ["fails", { failures: 1 }],
])("the highest rate at which no request %s is found, within 7 percent", async (_, overrides) => {
  const measure = (rate: number) => Promise.resolve(resultAt(rate, rate > 700 ? overrides : {}));
  const { sustained, failed } = await findHighestRate({ p99MsMax: 100, measure });
  expect(sustained?.perSecond).toBeGreaterThan(700 / 1.07);
  expect(sustained?.perSecond).toBeLessThanOrEqual(700);
  expect(failed?.perSecond).toBeGreaterThan(700);
});

test("without a sustained first rate there is no sustained rate", async () => {
  const measure = (rate: number) => Promise.resolve(resultAt(rate, { failures: 1 }));
  expect(await findHighestRate({ p99MsMax: 100, measure })).toMatchObject({
    sustained: undefined,
    failed: { perSecond: 50 },
  });
});

test("the ramp ends if every rate is sustained", async () => {
  const measure = (rate: number) => Promise.resolve(resultAt(rate, {}));
  const { sustained, failed } = await findHighestRate({ p99MsMax: 100, measure });
  expect(sustained?.perSecond).toBeGreaterThan(10_000);
  expect(failed).toBeUndefined();
});

test("a rate counts as failed only after two failed measurements", async () => {
  let count = 0;
  const measure = (rate: number) => Promise.resolve(resultAt(rate, count++ % 2 === 0 ? { failures: 1 } : {}));
  expect((await findHighestRate({ p99MsMax: 100, measure })).failed).toBeUndefined();
});

const sustained: RateResult = {
  perSecond: 1_200,
  requests: 6_000,
  failures: 0,
  p99Ms: 42.31,
  sendDelayMsMax: 3,
  cpuSeconds: new Map([
    ["gateway", 4.5],
    ["posts", 3],
  ]),
  seconds: 5,
};

test("10,000 requests/s of 1 ms CPU time need 17 replicas at 60% utilization", () => {
  expect(replicasFor(1)).toBe(17);
});

test("the limit is a process at full CPU, else failed requests, else a late load generator, else the machine", () => {
  const idle = { ...sustained, cpuSeconds: new Map([["posts", 2]]) };
  expect(limitOf(sustained, 100)).toBe("gateway, 90 % of a core");
  expect(limitOf({ ...idle, failures: 2, sendDelayMsMax: 80 }, 100)).toBe("requests failed: 2 of 6,000");
  expect(limitOf({ ...idle, sendDelayMsMax: 80 }, 100)).toContain("at least");
  expect(limitOf(idle, 100)).toContain("the machine");
});
