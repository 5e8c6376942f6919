import { expect, test } from "vitest";
import { report } from "./report.ts";

const tests = [
  { id: "a", name: "must", kind: "required" as const, dependsOn: [] },
  { id: "b", name: "may", kind: "optimal" as const, dependsOn: [] },
  { id: "c", name: "may after that", kind: "optimal" as const, dependsOn: ["b"] },
];
const failure = ["Assertion", "no"] as const;

test("it is good when what fails is known", () => {
  const { isGood, lines } = reported({ a: true, b: failure, c: failure }, ["b"]);
  expect(isGood).toBe(true);
  expect(lines.slice(1, 4)).toEqual([
    "   required          1          0          0          0",
    "    optimal          0          1          0          1",
    "      check          0          0          0          0",
  ]);
});

test("a failure that nobody knows of is told with its words", () => {
  const { isGood, lines } = reported({ a: failure, b: true, c: true }, []);
  expect(isGood).toBe(false);
  expect(lines).toContain("FAIL  a fails: Assertion: no (must)");
});

test("a failure that is over has to leave the list", () => {
  const { isGood, lines } = reported({ a: true, b: true, c: true }, ["b"]);
  expect(isGood).toBe(false);
  expect(lines).toContain("FAIL  b is known to fail and comes to pass");
});

test("a failure stands in the list once, and exists", () => {
  expect(reported({ a: true, b: failure, c: failure }, ["b", "b"]).isGood).toBe(false);
  expect(reported({ a: true, b: true, c: true }, ["nowhere"]).isGood).toBe(false);
});

function reported(results: Parameters<typeof report>[1], ids: readonly string[]) {
  const lines: string[] = [];
  const isGood = report(tests, results, [{ reason: "it is so", ids }], (line) => lines.push(line));
  return { isGood, lines };
}
