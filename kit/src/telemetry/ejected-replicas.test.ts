import { expect, test } from "vitest";
import { createEjectedReplicas } from "./ejected-replicas.ts";

test("a replica counts from its ejection until it is back, or has not been heard of for a minute", () => {
  let nowMs = 0;
  const ejected = createEjectedReplicas(() => nowMs);
  ejected.eject("things", "a", 1_000);
  ejected.eject("things", "a", 2_000);
  ejected.eject("things", "b", 1_000);
  expect([...ejected.counts()]).toEqual([["things", 2]]);
  ejected.restore("things", "b");
  expect([...ejected.counts()]).toEqual([["things", 1]]);
  nowMs = 62_000;
  expect([...ejected.counts()]).toEqual([["things", 0]]);
});
