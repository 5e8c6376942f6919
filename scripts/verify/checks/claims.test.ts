// The claims of the verifications hold for a correct outcome, and fail for each incorrect one.
import { expect, test } from "vitest";
import { findChanges } from "./cache/cache.ts";
import type { SuiteTest } from "./cache/suite.ts";

const tests = [suiteTest("a"), suiteTest("b"), suiteTest("c", "b")];
const failure = ["Assertion", "no"] as const;

test.each([
  ["every failure is known", { a: true, b: failure, c: failure }, "b", []],
  ["a failure is unknown", { a: failure, b: true, c: true }, "", ["a fails: Assertion,no (a)"]],
  ["the setup of a test fails", { a: ["Setup", "500"], b: true, c: true }, "", ["a fails: Setup,500 (a)"]],
  ["a test has no result", { a: true, b: true }, "", ["c was not run"]],
  ["one of two known failures passes", { a: failure, b: true, c: true }, "[ab]", [known("b")]],
  ["the dependency of a known failure fails", { a: true, b: failure, c: failure }, "b|c", [known("c")]],
  ["a known failure is no test", { a: true, b: true, c: true }, "x", ["^(?:x)$ is no test"]],
] as const)("the changes if %s", (_, results, ids, changes) => {
  expect(findChanges(tests, results, ids === "" ? {} : { [ids]: "it is so" })).toEqual(changes);
});

function known(id: string): string {
  return `${id} is a known failure, but does not fail`;
}

function suiteTest(id: string, ...depends_on: string[]): SuiteTest {
  return { id, name: id, depends_on };
}
