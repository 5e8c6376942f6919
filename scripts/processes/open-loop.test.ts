import { expect, test } from "vitest";
import { describeFailures, describeLoad, percentile, startLoad } from "./open-loop.ts";

test("a standstill counts for everybody who was to be served in it", async () => {
  const standstill = Promise.withResolvers<undefined>();
  let sent = 0;
  const some = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: () => {
      if (++sent === 50) some.resolve();
      return standstill.promise;
    },
  });
  await some.promise;
  standstill.resolve(undefined);
  const { count, latenciesMs } = await load.stop();
  expect(count).toBeGreaterThanOrEqual(50);
  expect(latenciesMs.at(-1)).toBeGreaterThanOrEqual(45);
});

test("what fails is counted by its words", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: (count) => {
      if (count === 4) enough.resolve();
      return count % 2 === 0 ? Promise.reject(new Error("gone")) : Promise.resolve("null");
    },
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([...failures.keys()].toSorted()).toEqual(["Error: gone", "null"]);
  expect(describeFailures(new Map([["gone", 2]]))).toBe("2× gone");
  expect(describeFailures(new Map())).toBe("none");
});

test("what came before a reset is forgotten, even when it ends later", async () => {
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

test("what was to be sent before the next report was asked for belongs to the one before, whenever it is answered", async () => {
  const first = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 100,
    send: (count) => (started.resolve(), count === 1 ? first.promise : Promise.resolve(undefined)),
  });
  await started.promise;
  const before = load.next();
  expect(load.underWay).toBe(1);
  first.resolve("late");
  expect(await before).toMatchObject({ count: 1, failures: new Map([["late", 1]]) });
  expect((await load.stop()).failures.size).toBe(0);
});

test("failures of more kinds than anybody reads are counted as one", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 5_000,
    send: async (count) => (count === 150 ? (enough.resolve(), "last") : `failure ${count}`),
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([failures.size, (failures.get("something else") ?? 0) >= 50]).toEqual([101, true]);
});

test("a percentile is a value that was measured", () => {
  const values = Array.from({ length: 100 }, (_, i) => i + 1);
  expect([50, 99, 100].map((percent) => percentile(values, percent))).toEqual([50, 99, 100]);
  expect(percentile([], 99)).toBe(0);
});

test("a report tells latencies, our own delay and failures", () => {
  const report = { count: 2, latenciesMs: [1, 3], sentLateMsMax: 0.5, failures: new Map([["gone", 1]]) };
  expect(describeLoad(report)).toBe(
    "2 requests, p50 1.0 ms, p99 3.0 ms, longest 3.0 ms, sent 0.5 ms late at the latest, failures: 1× gone",
  );
});
