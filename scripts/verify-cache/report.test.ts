import { expect, test } from "vitest";
import { report } from "./report.ts";

const tests = [
  { id: "a", name: "must", kind: "required" as const, dependsOn: [] },
  { id: "b", name: "may", kind: "optimal" as const, dependsOn: [] },
  { id: "c", name: "may after that", kind: "optimal" as const, dependsOn: ["b"] },
];
const failure = ["Assertion", "no"] as const;

test("it passes if every failure is known", () => {
  const { passed, lines } = runReport({ a: true, b: failure, c: failure }, ["b"]);
  expect(passed).toBe(true);
  expect(lines.slice(1, 4)).toEqual([
    "   required          1          0          0          0",
    "    optimal          0          1          0          1",
    "      check          0          0          0          0",
  ]);
});

test("an unknown failure is printed with its message", () => {
  const { passed, lines } = runReport({ a: failure, b: true, c: true }, []);
  expect(passed).toBe(false);
  expect(lines).toContain("FAIL  a fails: Assertion: no (must)");
});

test("a test in the list that passes is an error", () => {
  const { passed, lines } = runReport({ a: true, b: true, c: true }, ["b"]);
  expect(passed).toBe(false);
  expect(lines).toContain("FAIL  b is listed as a known failure, but its outcome is pass");
});

test("a duplicate or unknown id in the list is an error", () => {
  expect(runReport({ a: true, b: failure, c: failure }, ["b", "b"]).passed).toBe(false);
  expect(runReport({ a: true, b: true, c: true }, ["unknown"]).passed).toBe(false);
});

function runReport(results: Parameters<typeof report>[1], ids: readonly string[]) {
  const lines: string[] = [];
  const passed = report(tests, results, [{ reason: "it is so", ids }], (line) => lines.push(line));
  return { passed, lines };
}
