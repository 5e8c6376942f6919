import { expect, test } from "vitest";
import { measurePromotedMb } from "../testing/promoted-bytes.ts";
import { InFlightList } from "./in-flight-list.ts";

test("items are listed in the order in which they were added, after any removals", () => {
  const list = new InFlightList<string>();
  const entries = ["a", "b", "c", "d", "e"].map((name) => list.add(name));
  for (const index of [0, 2, 4]) list.remove(entries[index] ?? expect.unreachable());
  list.add("f");
  expect(list.items()).toEqual(["b", "d", "f"]);
  expect(list.size).toBe(3);
});

test("a few of many items are listed without sorting all", () => {
  const list = new InFlightList<number>();
  const entries = Array.from({ length: 10_000 }, (_, item) => list.add(item));
  // From the first to the last, so that the order of the list is no longer that of the additions.
  for (const [item, entry] of entries.entries()) {
    list.remove(entry);
    if (item % 2 === 0) list.add(item);
  }
  expect(list.items((item) => item < 5)).toEqual([0, 2, 4]);
  const cpuMsOf = (run: () => unknown) => {
    const before = process.threadCpuUsage();
    for (let round = 0; round < 100; round++) run();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  expect(cpuMsOf(() => list.items((item) => item < 5))).toBeLessThan(cpuMsOf(() => list.items()) / 2);
});

test("removing an entry twice removes no other", () => {
  const list = new InFlightList<string>();
  const [a, b] = [list.add("a"), list.add("b")];
  list.remove(a);
  list.remove(a);
  list.remove(b);
  list.remove(b);
  const c = list.add("c");
  list.remove(a);
  expect(list.items()).toEqual(["c"]);
  list.remove(c);
  expect(list.size).toBe(0);
});

test("removed items are collected with the young generation, where a Set promotes them to the old one", () => {
  // 150,000 short-lived objects of some 200 bytes, sixteen at a time: 30 MB. Measured: 0.3 MB and 16 MB.
  const churn = new URL("../testing/churn.ts", import.meta.url);
  expect(measurePromotedMb(churn, "list")).toBeLessThan(3);
  expect(measurePromotedMb(churn, "set")).toBeGreaterThan(8);
});
