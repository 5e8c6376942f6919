import { expect, test } from "vitest";
import { toOutcomes } from "./outcomes.ts";

test("a test whose ground is gone says nothing, whatever came of it", () => {
  const outcomes = toOutcomes([one("a"), one("b", "a"), one("c", "b"), one("d")], {
    a: ["Assertion", "Response 2 comes from cache"],
    b: true,
    c: ["Setup", "Response 1 status is 500, not 200"],
    d: ["Setup", "Response 1 status is 500, not 200"],
  });
  expect([...outcomes.values()]).toEqual(["fail", "dependency", "dependency", "setup"]);
});

test("what breaks the suite itself is a failure, and what was not run is none", () => {
  expect([...toOutcomes([one("a"), one("b")], { a: ["FetchError", "socket hang up"] }).values()]).toEqual([
    "fail",
    "not-run",
  ]);
});

function one(id: string, ...dependsOn: string[]) {
  return { id, name: id, kind: "required" as const, dependsOn };
}
