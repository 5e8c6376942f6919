import { expect, test } from "vitest";
import { findHeld, type Held } from "./ramp.ts";

const at = (perSecond: number, more: Partial<Held>): Held => ({
  perSecond,
  requests: perSecond,
  failures: 0,
  p99Ms: 1,
  sendDelayMsMax: 0,
  cpuSeconds: new Map(),
  seconds: 1,
  ...more,
});

test.each([
  ["too late", { p99Ms: 101 }],
  ["failed", { failures: 1 }],
])("the highest rate is found at which nothing is %s, to a twentieth", async (_, more) => {
  const measure = (rate: number) => Promise.resolve(at(rate, rate > 700 ? more : {}));
  const { held, broke } = await findHeld({ p99MsMax: 100, measure });
  expect(held?.perSecond).toBeGreaterThan(700 / 1.07);
  expect(held?.perSecond).toBeLessThanOrEqual(700);
  expect(broke?.perSecond).toBeGreaterThan(700);
});

test("what does not hold the first rate holds none", async () => {
  const measure = (rate: number) => Promise.resolve(at(rate, { failures: 1 }));
  expect(await findHeld({ p99MsMax: 100, measure })).toMatchObject({ held: undefined, broke: { perSecond: 50 } });
});

test("a rate that nothing breaks is found, too", async () => {
  const measure = (rate: number) => Promise.resolve(at(rate, {}));
  const { held, broke } = await findHeld({ p99MsMax: 100, measure });
  expect(held?.perSecond).toBeGreaterThan(10_000);
  expect(broke).toBeUndefined();
});

test("a rate is given up only when it was not held twice", async () => {
  let count = 0;
  const measure = (rate: number) => Promise.resolve(at(rate, count++ % 2 === 0 ? { failures: 1 } : {}));
  expect((await findHeld({ p99MsMax: 100, measure })).broke).toBeUndefined();
});
