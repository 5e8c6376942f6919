import { expect, test } from "vitest";
import { findChanges, toOutcomes, toTable } from "./outcomes.ts";
import type { SuiteTest } from "./suite.ts";

const tests = [suiteTest("a"), suiteTest("b", "optimal"), suiteTest("c", "optimal", "b")];
const failure = ["Assertion", "no"] as const;

test("the result of a test whose dependency failed is not counted", () => {
  const chain = [suiteTest("a"), suiteTest("b", "check", "a"), suiteTest("c", "check", "b"), suiteTest("d")];
  const setup = ["Setup", "Response 1 status is 500, not 200"] as const;
  const outcomes = toOutcomes(chain, { a: failure, b: true, c: setup, d: setup });
  expect([...outcomes.values()]).toEqual(["fail", "dependency", "dependency", "setup"]);
});

test("a network error is a failure, and a test without a result was not run", () => {
  const outcomes = toOutcomes([suiteTest("a"), suiteTest("b")], { a: ["FetchError", "socket hang up"] });
  expect([...outcomes.values()]).toEqual(["fail", "not-run"]);
});

test("the table counts the outcomes of each kind", () => {
  expect(toTable(tests, { a: true, b: failure, c: failure }).slice(1)).toEqual([
    "   required          1          0          0          0",
    "    optimal          0          1          0          1",
    "      check          0          0          0          0",
  ]);
});

test.each([
  ["every failure is known", { a: true, b: failure, c: failure }, ["b"], []],
  ["a failure is unknown", { a: failure, b: true, c: true }, [], ["a fails: Assertion: no (a)"]],
  ["a known failure passes", { a: true, b: true, c: true }, ["b"], [listed("b", "its outcome is pass")]],
  ["a known failure is no test", { a: true, b: true, c: true }, ["x"], [listed("x", "its outcome is undefined")]],
  ["an id is listed twice", { a: failure, b: true, c: true }, ["a", "a"], ["a is listed twice as a known failure"]],
] as const)("the changes if %s", (_, results, ids, changes) => {
  expect(findChanges(tests, results, [{ reason: "it is so", ids }])).toEqual(changes);
});

function listed(id: string, but: string): string {
  return `${id} is listed as a known failure, but ${but}`;
}

function suiteTest(id: string, kind: SuiteTest["kind"] = "required", ...dependsOn: string[]): SuiteTest {
  return { id, name: id, kind, dependsOn };
}
