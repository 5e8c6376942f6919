// Stage 3 of 5: how to answer? In which order a plan's fetches are sent, and which of them go to a subgraph together.
import type { FetchNode, PlanNode } from "@apollo/query-planner";

/** A fetch of the plan, and the objects that it is about: planner keys from the root, lists left out. */
export interface PlannedFetch {
  readonly node: FetchNode;
  readonly path: readonly string[];
}

export type Outline =
  | { readonly kind: "sequence" | "parallel"; readonly parts: readonly Outline[] }
  /** Fetches that one request to one subgraph brings. */
  | { readonly kind: "batch"; readonly fetches: readonly PlannedFetch[] };

/**
 * Entity fetches that one subgraph can answer at the same time are one request. The plan's parallel branches are gone along side by side,
 * level by level, where that makes the requests fewer: a branch then waits for the others at each level, and one request costs
 * a gateway and a subgraph more than such a wait (`npm run bench`: 16 requests become 7).
 */
export function outlinePlan(node: PlanNode): Outline {
  const asPlanned = toOutline(node, []);
  const levels = toLevels(node, []).map((fetches) => inParallel(batchesOf(fetches)));
  const byLevel: Outline = levels.length === 1 && levels[0] ? levels[0] : { kind: "sequence", parts: levels };
  return countBatches(byLevel) < countBatches(asPlanned) ? byLevel : asPlanned;
}

function toOutline(node: PlanNode, path: readonly string[]): Outline {
  switch (node.kind) {
    case "Fetch":
      return { kind: "batch", fetches: [{ node, path }] };
    case "Flatten":
      return toOutline(node.node, [...path, ...keysOf(node.path)]);
    case "Sequence":
      return { kind: "sequence", parts: node.nodes.map((child) => toOutline(child, path)) };
    case "Parallel": {
      const parts = node.nodes.map((child) => toOutline(child, path));
      const fetches = parts.flatMap((part) => (part.kind === "batch" ? part.fetches : []));
      return inParallel([...batchesOf(fetches), ...parts.filter(({ kind }) => kind !== "batch")]);
    }
    case "Condition":
    case "Defer":
      throw new Error(`Operations are normalized before they are planned: ${node.kind} is not expected`);
  }
}

/** What can be fetched at once, then what can be fetched after that, and so on. */
function toLevels(node: PlanNode, path: readonly string[]): readonly (readonly PlannedFetch[])[] {
  switch (node.kind) {
    case "Flatten":
      return toLevels(node.node, [...path, ...keysOf(node.path)]);
    case "Sequence":
      return node.nodes.flatMap((child) => toLevels(child, path));
    case "Parallel": {
      const branches = node.nodes.map((child) => toLevels(child, path));
      const depth = Math.max(...branches.map(({ length }) => length));
      return Array.from({ length: depth }, (_, level) => branches.flatMap((branch) => branch[level] ?? []));
    }
    case "Fetch":
      return [[{ node, path }]];
    case "Condition":
    case "Defer":
      return [];
  }
}

function keysOf(path: readonly (string | number)[]): readonly string[] {
  return path.filter((step): step is string => typeof step === "string" && step !== "@");
}

/** Those of one subgraph in one batch. A fetch of root fields goes alone: the planner has put these together already. */
function batchesOf(fetches: readonly PlannedFetch[]): readonly Outline[] {
  const batches = new Map<unknown, PlannedFetch[]>();
  for (const fetch of fetches) {
    const key = fetch.node.requires ? fetch.node.serviceName : fetch;
    const batch = batches.get(key);
    if (batch) batch.push(fetch);
    else batches.set(key, [fetch]);
  }
  return [...batches.values()].map((batch) => ({ kind: "batch", fetches: batch }));
}

function inParallel(parts: readonly Outline[]): Outline {
  const [first] = parts;
  return first && parts.length === 1 ? first : { kind: "parallel", parts };
}

function countBatches(outline: Outline): number {
  if (outline.kind === "batch") return 1;
  return outline.parts.reduce((count, part) => count + countBatches(part), 0);
}
