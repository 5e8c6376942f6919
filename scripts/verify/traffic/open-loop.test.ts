import { expect, test } from "vitest";
import { describeFailures, describeLoad, percentile, startLoad } from "./open-loop.ts";

test("a stall delays every request that was due during it", async () => {
  const stall = Promise.withResolvers<undefined>();
  let sent = 0;
  const fiftySent = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: () => {
      if (++sent === 50) fiftySent.resolve();
      return stall.promise;
    },
  });
  await fiftySent.promise;
  stall.resolve(undefined);
  const { count, latenciesMs } = await load.stop();
  expect(count).toBeGreaterThanOrEqual(50);
  expect(latenciesMs.at(-1)).toBeGreaterThanOrEqual(45);
});

test("failures are counted by their message", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: (count) => {
      if (count === 4) enough.resolve();
      return count % 2 === 0 ? Promise.reject(new Error("closed")) : Promise.resolve("null");
    },
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([...failures.keys()].toSorted()).toEqual(["Error: closed", "null"]);
  expect(describeFailures(new Map([["closed", 2]]))).toBe("2× closed");
  expect(describeFailures(new Map())).toBe("none");
});

test("requests that were sent before a reset are not counted, even if they end later", async () => {
  const first = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 100,
    send: (count) => (started.resolve(), count === 1 ? first.promise : Promise.resolve(undefined)),
  });
  await started.promise;
  load.reset();
  first.resolve("late");
  expect((await load.stop()).failures.size).toBe(0);
});

test("a report includes every request that was due before it, also those that end later", async () => {
  const first = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 100,
    send: (count) => (started.resolve(), count === 1 ? first.promise : Promise.resolve(undefined)),
  });
  await started.promise;
  const before = load.next();
  expect(load.inFlight).toBe(1);
  first.resolve("late");
  expect(await before).toMatchObject({ count: 1, failures: new Map([["late", 1]]) });
  expect((await load.stop()).failures.size).toBe(0);
});

test("the number of failure kinds is limited, the others are counted as one kind", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 5_000,
    send: async (count) => (count === 150 ? (enough.resolve(), "last") : `failure ${count}`),
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([failures.size, (failures.get("other failures") ?? 0) >= 50]).toEqual([101, true]);
});

test("a percentile is a value that was measured", () => {
  const values = Array.from({ length: 100 }, (_, i) => i + 1);
  expect([50, 99, 100].map((percent) => percentile(values, percent))).toEqual([50, 99, 100]);
  expect(percentile([], 99)).toBe(0);
});

test("a report contains latencies, the delay of sending and failures", () => {
  const report = { count: 2, latenciesMs: [1, 3], sendDelayMsMax: 0.5, failures: new Map([["closed", 1]]) };
  expect(describeLoad(report)).toBe(
    "2 requests, p50 1.0 ms, p99 3.0 ms, longest 3.0 ms, sent at most 0.5 ms late, failures: 1× closed",
  );
});
