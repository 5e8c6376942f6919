import { expect, test } from "vitest";
import { workloads } from "../workloads/workloads.ts";
import { createReferenceExecutor } from "./reference-executor.ts";

const executeReference = createReferenceExecutor();

test.each(workloads.map((workload) => [workload.name, workload] as const))(
  "the requests of %s execute without errors",
  (_, { requests }) => {
    for (const request of [requests[0], requests.at(-1)]) {
      expect(request && executeReference(request)).toBeTypeOf("object");
    }
  },
);

test("the heavy result has some 90 KB, the small result 1 KB", () => {
  expect(sizeOf("heavy")).toBeGreaterThan(80_000);
  expect(sizeOf("heavy")).toBeLessThan(100_000);
  expect(sizeOf("small")).toBeGreaterThan(900);
  expect(sizeOf("small")).toBeLessThan(1_200);
});

test("no two requests of a varying workload have the same result", () => {
  const requests = workloads.find(({ name }) => name === "heavy-varying")?.requests ?? [];
  const results = requests.map((request) => JSON.stringify(executeReference(request)));
  expect(new Set(results).size).toBe(requests.length);
});

test("every document of the cold and documents workloads has a different text", () => {
  for (const name of ["cold", "documents"]) {
    const texts = workloads.find((workload) => workload.name === name)?.requests.map(({ query }) => query) ?? [];
    expect(new Set(texts).size).toBe(texts.length);
  }
});

function sizeOf(name: string): number {
  const request = workloads.find((workload) => workload.name === name)?.requests[0];
  return request ? JSON.stringify(executeReference(request)).length : 0;
}
