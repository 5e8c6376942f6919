import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Roster } from "./in-flight-list.ts";

test("who is on it stands there in the order of coming, whoever has gone meanwhile", () => {
  const roster = new Roster<string>();
  const entries = ["a", "b", "c", "d", "e"].map((name) => roster.add(name));
  for (const at of [0, 2, 4]) roster.remove(entries[at] ?? expect.unreachable());
  roster.add("f");
  expect(roster.items()).toEqual(["b", "d", "f"]);
  expect(roster.size).toBe(3);
});

test("who has gone cannot go again, and takes nobody along", () => {
  const roster = new Roster<string>();
  const [a, b] = [roster.add("a"), roster.add("b")];
  roster.remove(a);
  roster.remove(a);
  roster.remove(b);
  roster.remove(b);
  const c = roster.add("c");
  roster.remove(a);
  expect(roster.items()).toEqual(["c"]);
  roster.remove(c);
  expect(roster.size).toBe(0);
});

test("what it has seen goes with the young generation, where a Set takes it into the old one", () => {
  // A million short-lived things of some 200 bytes, sixteen at a time: 200 MB.
  expect(measurePromotedMb("roster")).toBeLessThan(10);
  expect(measurePromotedMb("set")).toBeGreaterThan(50);
});

/** What V8 moved into the old generation of a process that used the one or the other. */
function measurePromotedMb(kind: "roster" | "set"): number {
  const file = new URL("../testing/churn.ts", import.meta.url).pathname;
  const { stdout } = spawnSync(process.execPath, ["--expose-gc", "--trace-gc", "--trace-gc-nvp", file, kind], {
    encoding: "utf8",
  });
  const promoted = [...stdout.matchAll(/ promoted=(\d+)/g)].map(([, bytes]) => Number(bytes));
  expect(promoted.length).toBeGreaterThan(10);
  return promoted.reduce((sum, bytes) => sum + bytes, 0) / 1e6;
}
