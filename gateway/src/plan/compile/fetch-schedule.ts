// Schedules the fetches of a query plan for compile-requests.ts: which fetches each of them waits for, and which of them can share one request.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FetchPath, readFetchPath } from "./fetch-path.ts";

export interface PlannedFetch {
  readonly node: FetchNode;
  /** The position of the objects to which the data belongs. */
  readonly path: FetchPath;
  /**
   * The fetches that must be complete before it is sent: the last ones before it in the planner's sequences. The same array for all fetches that wait
   * for the same ones.
   */
  readonly after: readonly PlannedFetch[];
}

/** The fetches that can share one request: one fetch of root fields, or one or more entity fetches from one subgraph. */
export type FetchBatch = readonly PlannedFetch[];

/** The part of a schedule that one plan node adds. */
interface ScheduledNode {
  /** The fetches that the next node of a sequence waits for. */
  readonly last: readonly PlannedFetch[];
  readonly levelCount: number;
}

/**
 * Batches the entity fetches from one subgraph on one level: the first fetches of parallel branches are one level, the second fetches the next, and
 * so on (`npm run bench`: 7 requests instead of 16). Fetches of a batch that wait for different fetches are sent together only if they become ready
 * at nearly the same time (../../run/request-order.ts).
 * @returns the batches level by level, so each fetch comes after those that it waits for.
 */
export function scheduleFetches(plan: PlanNode): readonly FetchBatch[] {
  const levels: Map<unknown, PlannedFetch[]>[] = [];

  function addFetch(fetch: PlannedFetch, level: number): void {
    const batches = (levels[level] ??= new Map());
    // A fetch of root fields has its own batch: the planner has already merged what can be merged.
    const key = fetch.node.requires ? fetch.node.serviceName : fetch;
    const batch = batches.get(key);
    if (batch) batch.push(fetch);
    else batches.set(key, [fetch]);
  }

  function addNode(
    node: PlanNode,
    path: PlannedFetch["path"],
    after: PlannedFetch["after"],
    level: number,
  ): ScheduledNode {
    switch (node.kind) {
      case "Fetch": {
        const fetch = { node, path, after };
        addFetch(fetch, level);
        return { last: [fetch], levelCount: 1 };
      }
      case "Flatten":
        return addNode(node.node, [...path, ...readFetchPath(node.path)], after, level);
      case "Sequence": {
        let last = after;
        let levelCount = 0;
        for (const child of node.nodes) {
          const added = addNode(child, path, last, level + levelCount);
          last = added.last;
          levelCount += added.levelCount;
        }
        return { last, levelCount };
      }
      case "Parallel": {
        const branches = node.nodes.map((child) => addNode(child, path, after, level));
        return {
          last: branches.flatMap(({ last }) => last),
          levelCount: Math.max(...branches.map(({ levelCount }) => levelCount)),
        };
      }
      case "Condition":
      case "Defer":
        throw new Error(`Operations are normalized before planning: unexpected ${node.kind} node`);
    }
  }

  addNode(plan, [], [], 0);
  return levels.flatMap((batches) => [...batches.values()]);
}
