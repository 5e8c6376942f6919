import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { buildSchema } from "graphql";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { compileRequests } from "../src/engine/plan/compile/compile-requests.ts";
import { createStoppedKeyAdditions } from "../src/engine/plan/compile/key-checks.ts";
import { createSupergraphTypes } from "../src/engine/plan/compile/supergraph-types.ts";
import { partsWaitMs, sendInOrder } from "../src/engine/run/request-order.ts";
import { createDice, type Dice } from "./differential/dice.ts";

/* Each fetch has a path of its own, whose last step is its name, so that a request shows which fetches of the plan it contains. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

test.each(seeds)("each fetch is sent once, after all that it waits for, and soon: seed %i", async (seed) => {
  const numbers = createRandomNumbers(seed);
  const latencies = createDice(createRandomNumbers(seed + 1_000));
  const plan = generatePlan(createDice(numbers), 4);
  const { parts } = compileRequests(plan, [], compilerOptions, () => {});
  const sentAtMs = new Map<string, number>();
  const completedAtMs = new Map<string, number>();

  const result = sendInOrder(parts, async ({ fetches, currentText }) => {
    const names = fetches.flatMap(({ paths }) => paths.map((path) => path.at(-1)?.key ?? ""));
    for (const { representationPlan } of fetches)
      if (representationPlan) expect(currentText().head).toContain(representationPlan.entitiesKey);
    for (const name of names) {
      expect(sentAtMs.has(name)).toBe(false);
      sentAtMs.set(name, Date.now());
    }
    // Some subgraphs respond at the same time, some much later.
    await new Promise((resolve) => setTimeout(resolve, latencies.pick([3, 3, 3, 4, 6, 10, 40])));
    for (const name of names) completedAtMs.set(name, Date.now());
  });
  const startedAtMs = Date.now();
  await vi.runAllTimersAsync();
  await result;

  const waits = listWaits(plan);
  expect([...sentAtMs.keys()].toSorted()).toEqual([...waits.keys()].toSorted());
  for (const [name, waitsFor] of waits) {
    const readyAtMs = Math.max(startedAtMs, ...waitsFor.map((one) => completedAtMs.get(one) as number));
    expect(sentAtMs.get(name)).toBeGreaterThanOrEqual(readyAtMs);
    // The fake clock runs an immediate 1 ms later.
    expect(sentAtMs.get(name)).toBeLessThanOrEqual(readyAtMs + partsWaitMs + 1);
  }
});

test("an error while a request is sent rejects the result", async () => {
  const plan: PlanNode = { kind: "Sequence", nodes: [createFetch("a", "s0", "x"), createFetch("b", "s1", "x")] };
  const { parts } = compileRequests(plan, [], compilerOptions, () => {});
  const send = vi.fn(() => Promise.reject(new Error("a bug")));
  await expect(sendInOrder(parts, send)).rejects.toThrow("a bug");
  expect(send).toHaveBeenCalledOnce();
});

const compilerOptions = {
  types: createSupergraphTypes(buildSchema("type Query { x: Int }")),
  aliasPrefix: "a_",
  checksKeys: () => false,
  stoppedKeyAdditions: createStoppedKeyAdditions(),
};

function generatePlan(dice: Dice, depth: number): PlanNode {
  let count = 0;
  function generate(depthLeft: number): PlanNode {
    const isFetch = depthLeft === 0 || (depthLeft < 4 && dice.chance(30));
    // Few subgraphs and few fields, so that many fetches are batched, and some of these are equal.
    if (isFetch) return createFetch(`f${count++}`, dice.pick(["s0", "s1", "s2"]), dice.pick(["x", "y", undefined]));
    const nodes = Array.from({ length: 1 + dice.roll(4) }, () => generate(depthLeft - 1));
    return { kind: dice.pick(["Sequence", "Parallel"]), nodes };
  }
  return generate(depth);
}

/** @param field of an entity; undefined for a fetch of root fields. */
function createFetch(name: string, serviceName: string, field: string | undefined): PlanNode {
  const entities = `query($representations:[_Any!]!){_entities(representations:$representations){...on T{${field}}}}`;
  const node: FetchNode = {
    kind: "Fetch",
    serviceName,
    operation: field === undefined ? "{ x }" : entities,
    operationName: undefined,
    operationKind: "query" as never,
    ...(field !== undefined && { requires: [{ kind: "Field", name: "id" }] }),
  };
  return { kind: "Flatten", path: [name], node };
}

/** For each fetch, all fetches before it in the plan's sequences. */
function listWaits(node: PlanNode, before: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  if (node.kind === "Flatten") return new Map([[String(node.path[0]), before]]);
  const waits = new Map<string, readonly string[]>();
  for (const child of "nodes" in node ? node.nodes : []) {
    const earlier = node.kind === "Sequence" ? [...waits.keys()] : [];
    for (const [name, waitsFor] of listWaits(child, [...before, ...earlier])) waits.set(name, waitsFor);
  }
  return waits;
}

/** Of a linear congruential generator. */
function createRandomNumbers(seed: number): readonly number[] {
  let state = seed + 1;
  return Array.from({ length: 1_000 }, () => (state = (state * 48_271) % 2_147_483_647));
}
