import { expect, test } from "vitest";
import { gatewayWorkloads } from "../workloads/gateway-workloads.ts";
import { createReferenceExecutor } from "./reference-executor.ts";

const executeReference = createReferenceExecutor();

test.each(gatewayWorkloads.map(({ name }) => name))("the requests of %s execute without errors", (name) => {
  const bodies = listBodies(name);
  for (const body of [bodies[0], bodies.at(-1)]) expect(execute(body)).toBeTypeOf("object");
});

test("the heavy result has some 90 KB, the small result 1 KB", () => {
  expect(sizeOf("heavy")).toBeGreaterThan(80_000);
  expect(sizeOf("heavy")).toBeLessThan(100_000);
  expect(sizeOf("small")).toBeGreaterThan(900);
  expect(sizeOf("small")).toBeLessThan(1_200);
});

test("no two requests of a varying workload have the same result", () => {
  const results = listBodies("heavy-varying").map((body) => JSON.stringify(execute(body)));
  expect(new Set(results).size).toBe(results.length);
});

test.each(["cold", "documents"])("every document of %s has a different text", (name) => {
  const bodies = listBodies(name);
  expect(new Set(bodies).size).toBe(bodies.length);
});

function listBodies(name: string) {
  return gatewayWorkloads.find((workload) => workload.name === name)?.requests.map(({ body = "" }) => body) ?? [];
}

function execute(body = "") {
  return executeReference(JSON.parse(body));
}

function sizeOf(name: string): number {
  return JSON.stringify(execute(listBodies(name)[0])).length;
}
