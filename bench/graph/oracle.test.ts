import { expect, test } from "vitest";
import { workloads } from "../workloads/workloads.ts";
import { createOracle } from "./oracle.ts";

const oracle = createOracle();

test.each(workloads.map((workload) => [workload.name, workload] as const))("%s can be answered", (_, { requests }) => {
  for (const request of [requests[0], requests.at(-1)]) expect(request && oracle(request)).toBeTypeOf("object");
});

test("the heavy answer is some 90 KB, the small one 1 KB", () => {
  expect(sizeOf("heavy")).toBeGreaterThan(80_000);
  expect(sizeOf("heavy")).toBeLessThan(100_000);
  expect(sizeOf("small")).toBeGreaterThan(900);
  expect(sizeOf("small")).toBeLessThan(1_200);
});

test("no two requests of a varying workload have the same answer", () => {
  const requests = workloads.find(({ name }) => name === "heavy-varying")?.requests ?? [];
  const answers = requests.map((request) => JSON.stringify(oracle(request)));
  expect(new Set(answers).size).toBe(requests.length);
});

test("every cold document and every document in turn has a text of its own", () => {
  for (const name of ["cold", "documents"]) {
    const texts = workloads.find((workload) => workload.name === name)?.requests.map(({ query }) => query) ?? [];
    expect(new Set(texts).size).toBe(texts.length);
  }
});

function sizeOf(name: string): number {
  const request = workloads.find((workload) => workload.name === name)?.requests[0];
  return request ? JSON.stringify(oracle(request)).length : 0;
}
