import { expect, test } from "vitest";
import { createEjectedReplicas } from "./ejected-replicas.ts";

test("a replica counts from its ejection until it is healthy or removed", () => {
  const ejected = createEjectedReplicas();
  ejected.eject("things", "a");
  ejected.eject("things", "a");
  ejected.eject("things", "b");
  ejected.restore("others", "b");
  expect([...ejected.counts()]).toEqual([
    ["things", 2],
    ["others", 0],
  ]);
  ejected.restore("things", "b");
  expect(ejected.counts().get("things")).toBe(1);
});
