import { describe, expect, test } from "vitest";
import { createPlanCache } from "./plan-cache.ts";
import { createRejectedOperations } from "./planner/rejected-operations.ts";

describe("the plan cache", () => {
  /** Of one plan and its operation, a text of one character. */
  const bytesEach = 221;

  test("an operation is planned once, and its plan is cached", async () => {
    const { cache, planned, kinds } = setUp();
    const first = await cache.plan("a", []);
    expect(await cache.plan("a", [])).toBe(first);
    expect(planned).toEqual(["a"]);
    expect(kinds).toEqual(["plan-cache-miss", "plan-cache-hit"]);
  });

  test("an operation is planned once for each set of enabled labels", async () => {
    const { cache, planned } = setUp();
    for (const labels of [[], ["beta"], ["beta", "percent(5)"], ["beta"], []]) await cache.plan("a", labels);
    expect(planned).toEqual(["a", "a", "a"]);
  });

  test.each([
    ["plans", { plansMax: 2 }],
    ["bytes", { plansBytesMax: 2 * bytesEach }],
  ])("the plan that was not asked for longest goes first when there are too many %s", async (_, bounds) => {
    const { cache, planned } = setUp(bounds);
    for (const operation of ["a", "b", "a", "c", "a", "b"]) await cache.plan(operation, []);
    expect(planned).toEqual(["a", "b", "c", "b"]);
  });

  test("the size is reported, and each evicted plan is observed", async () => {
    const { cache, kinds } = setUp({ plansMax: 2 });
    for (const operation of ["a", "b", "c"]) await cache.plan(operation, []);
    expect(cache.size()).toEqual({ entries: 2, weight: 2 * bytesEach });
    expect(kinds.filter((kind) => kind === "cache-evicted")).toHaveLength(1);
  });

  test("a plan larger than the cache is not cached and evicts no other plan", async () => {
    const { cache, planned } = setUp({ plansBytesMax: 2 * bytesEach });
    for (const operation of ["a", "b".repeat(bytesEach + 2), "b".repeat(bytesEach + 2), "a"])
      await cache.plan(operation, []);
    expect(planned.map((operation) => operation[0])).toEqual(["a", "b", "b"]);
  });

  test("concurrent requests for a plan count it once", async () => {
    const { cache, planned } = setUp({ plansBytesMax: 2 * bytesEach });
    await Promise.all([cache.plan("a", []), cache.plan("a", [])]);
    for (const operation of ["b", "a", "b"]) await cache.plan(operation, []);
    expect(planned).toEqual(["a", "a", "b"]);
  });

  test("a failure is not cached", async () => {
    const { cache, planned } = setUp();
    await expect(cache.plan("failing", [])).rejects.toThrow("failing");
    await expect(cache.plan("failing", [])).rejects.toThrow("failing");
    expect(planned).toEqual(["failing", "failing"]);
  });

  function setUp(bounds: { plansMax?: number; plansBytesMax?: number } = {}) {
    const planned: string[] = [];
    const kinds: string[] = [];
    const plan = (operation: string): Promise<string> => {
      planned.push(operation);
      return operation === "failing" ? Promise.reject(new Error(operation)) : Promise.resolve("x".repeat(20));
    };
    const observe = ({ kind }: { kind: string }) => void kinds.push(kind);
    const cache = createPlanCache({ planner: { plan }, plansMax: 100, plansBytesMax: 10_000, observe, ...bounds });
    return { cache, planned, kinds };
  }
});

describe("rejected operations", () => {
  test("an operation is rejected until its time to live is over", () => {
    let nowMs = 0;
    const rejected = createRejectedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
    expect(rejected.has("{ a }")).toBe(false);
    rejected.add("{ a }");
    nowMs = 999;
    expect(rejected.has("{ a }")).toBe(true);
    expect(rejected.has("{ b }")).toBe(false);
    nowMs = 1_000;
    expect(rejected.has("{ a }")).toBe(false);
  });

  test("each further rejection lasts twice as long, up to a limit", () => {
    let nowMs = 0;
    const rejected = createRejectedOperations({ entriesMax: 10, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => nowMs });
    const times = [1, 2, 3, 4].map(() => {
      rejected.add("{ a }");
      const startedMs = nowMs;
      while (rejected.has("{ a }")) nowMs += 500;
      return nowMs - startedMs;
    });
    expect(times).toEqual([1_000, 2_000, 3_000, 3_000]);
  });

  test("the oldest entries are evicted", () => {
    const rejected = createRejectedOperations({ entriesMax: 2, ttlMsMin: 1_000, ttlMsMax: 3_000, clock: () => 0 });
    for (const operation of ["a", "b", "a", "c"]) rejected.add(operation);
    expect(["a", "b", "c"].map(rejected.has)).toEqual([true, false, true]);
  });
});
