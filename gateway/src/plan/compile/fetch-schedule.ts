// Schedules the fetches of a query plan for compile-requests.ts: the order in which they are sent, and which of them share one request.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FetchPath, readFetchPath } from "./fetch-path.ts";

export interface PlannedFetch {
  readonly node: FetchNode;
  /** The position of the objects to which the data belongs. */
  readonly path: FetchPath;
}

export type FetchSchedule =
  | { readonly kind: "sequence" | "parallel"; readonly parts: readonly FetchSchedule[] }
  /** The fetches of one request to one subgraph: one fetch of root fields, or one or more entity fetches. */
  | { readonly kind: "batch"; readonly fetches: readonly PlannedFetch[] };

/**
 * Batches entity fetches that one subgraph can execute at the same time. Chooses the schedule with fewer requests: the planner's own schedule, or one
 * that runs parallel branches in step (the first fetch of each branch, then the second fetch of each, …), so that more fetches to one subgraph share
 * a request. In step, each branch waits for the slowest branch, but a request costs the gateway and the subgraph more than this wait
 * (`npm run bench`: 7 requests instead of 16).
 */
export function scheduleFetches(node: PlanNode): FetchSchedule {
  const asPlanned = toSchedule(node, []);
  const levels = toLevels(node, []).map((fetches) => combine("parallel", toBatches(fetches)));
  const byLevel = combine("sequence", levels);
  return countBatches(byLevel) < countBatches(asPlanned) ? byLevel : asPlanned;
}

function toSchedule(node: PlanNode, path: FetchPath): FetchSchedule {
  switch (node.kind) {
    case "Fetch":
      return { kind: "batch", fetches: [{ node, path }] };
    case "Flatten":
      return toSchedule(node.node, [...path, ...readFetchPath(node.path)]);
    case "Sequence":
      return { kind: "sequence", parts: node.nodes.map((child) => toSchedule(child, path)) };
    case "Parallel": {
      const parts = node.nodes.map((child) => toSchedule(child, path));
      const fetches = parts.flatMap((part) => (part.kind === "batch" ? part.fetches : []));
      const otherParts = parts.filter(({ kind }) => kind !== "batch");
      return combine("parallel", [...toBatches(fetches), ...otherParts]);
    }
    case "Condition":
    case "Defer":
      throw new Error(`Operations are normalized before planning: unexpected ${node.kind} node`);
  }
}

/** Lists the fetches by level: level n has the n-th fetch of each parallel branch. By the planner's sequences, a fetch needs earlier levels only. */
function toLevels(node: PlanNode, path: FetchPath): readonly (readonly PlannedFetch[])[] {
  switch (node.kind) {
    case "Flatten":
      return toLevels(node.node, [...path, ...readFetchPath(node.path)]);
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
      // `toSchedule` has thrown for these.
      return [];
  }
}

/** One batch per subgraph. A fetch of root fields has its own batch: the planner has already merged what can be merged. */
function toBatches(fetches: readonly PlannedFetch[]): readonly FetchSchedule[] {
  const batches = new Map<unknown, PlannedFetch[]>();
  for (const fetch of fetches) {
    const key = fetch.node.requires ? fetch.node.serviceName : fetch;
    const batch = batches.get(key);
    if (batch) batch.push(fetch);
    else batches.set(key, [fetch]);
  }
  return [...batches.values()].map((batch) => ({ kind: "batch", fetches: batch }));
}

/** A single part needs no sequence or parallel around it. */
function combine(kind: "sequence" | "parallel", parts: readonly FetchSchedule[]): FetchSchedule {
  const [first] = parts;
  return first && parts.length === 1 ? first : { kind, parts };
}

function countBatches(schedule: FetchSchedule): number {
  if (schedule.kind === "batch") return 1;
  return schedule.parts.reduce((count, part) => count + countBatches(part), 0);
}
