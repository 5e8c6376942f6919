import { expect, test } from "vitest";
import { describeAll, putBetweenMarkers, reasonOf, replicasFor } from "./report.ts";
import type { Held } from "./ramp.ts";
import { workloads } from "./workloads.ts";

const held: Held = {
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

test("the tables say what was held, what a request cost each unit, and how many replicas that makes", () => {
  const workload = workloads.find(({ name }) => name === "graphql-small");
  if (!workload) throw new Error("there is one");
  const text = describeAll([{ workload, held, broke: held }], { p99MsMax: 100, seconds: 5 });
  expect(text).toContain("| graphql-small | 1,200 | 42.3 | gateway, 90 % of a core |");
  expect(text).toContain("| graphql-small | 0.75 | – | – | 0.50 | – | – |");
  expect(text).toContain("| graphql-small | 13 | – | – | 9 | – | – |");
});

test("ten thousand requests of a millisecond each are seventeen replicas, each used to three fifths", () => {
  expect(replicasFor(1)).toBe(17);
});

test("what came to its end is a process without CPU left, else the load itself when it was late, else the machine", () => {
  const idle = { ...held, cpuSeconds: new Map([["posts", 2]]) };
  expect(reasonOf(held, 100)).toBe("gateway, 90 % of a core");
  expect(reasonOf({ ...idle, sendDelayMsMax: 80 }, 100)).toContain("at least");
  expect(reasonOf(idle, 100)).toContain("the machine");
});

test("the tables take the place of those before, and nothing else of the page", () => {
  const page = "a\n<!-- capacity:begin -->\nold\n<!-- capacity:end -->\nb\n";
  expect(putBetweenMarkers(page, "new")).toBe("a\n<!-- capacity:begin -->\n\nnew\n\n<!-- capacity:end -->\nb\n");
  expect(() => putBetweenMarkers("nothing", "new")).toThrow("no <!-- capacity:begin -->");
});
