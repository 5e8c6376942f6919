import { expect, test } from "vitest";
import { formatTables, putBetweenMarkers, limitOf, replicasFor } from "./capacity-tables.ts";
import type { RateResult } from "./ramp.ts";

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

test("the tables contain the sustained rate, the CPU time of a request by process, and the number of replicas", () => {
  const text = formatTables([{ workload: "graphql-small", sustained, failed: sustained }], {
    p99MsMax: 100,
    seconds: 5,
  });
  expect(text).toContain("| graphql-small | 1,200 | 42.3 | gateway, 90 % of a core |");
  expect(text).toContain("| graphql-small | 0.75 | – | – | 0.50 | – | – |");
  expect(text).toContain("| graphql-small | 13 | – | – | 9 | – | – |");
});

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

test("only the tables between the markers are replaced", () => {
  const page = "a\n<!-- capacity:begin -->\nold\n<!-- capacity:end -->\nb\n";
  expect(putBetweenMarkers(page, "new")).toBe("a\n<!-- capacity:begin -->\n\nnew\n\n<!-- capacity:end -->\nb\n");
  expect(() => putBetweenMarkers("nothing", "new")).toThrow("no <!-- capacity:begin -->");
});
