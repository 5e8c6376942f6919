import { expect, test } from "vitest";
import { toOutcomes } from "./outcomes.ts";

test("the result of a test whose dependency failed is not counted", () => {
  const outcomes = toOutcomes([suiteTest("a"), suiteTest("b", "a"), suiteTest("c", "b"), suiteTest("d")], {
    a: ["Assertion", "Response 2 comes from cache"],
    b: true,
    c: ["Setup", "Response 1 status is 500, not 200"],
    d: ["Setup", "Response 1 status is 500, not 200"],
  });
  expect([...outcomes.values()]).toEqual(["fail", "dependency", "dependency", "setup"]);
});

test("a network error is a failure, and a test without a result was not run", () => {
  expect([...toOutcomes([suiteTest("a"), suiteTest("b")], { a: ["FetchError", "socket hang up"] }).values()]).toEqual([
    "fail",
    "not-run",
  ]);
});

function suiteTest(id: string, ...dependsOn: string[]) {
  return { id, name: id, kind: "required" as const, dependsOn };
}
