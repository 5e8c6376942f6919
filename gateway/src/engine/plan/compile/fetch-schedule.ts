// Schedules the fetches of a query plan: which fetches each waits for, and which can share a request.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FetchPath, readFetchPath } from "./fetch-path.ts";
import { orderContexts } from "./order-contexts.ts";

export interface PlannedFetch {
  readonly node: FetchNode;
  readonly path: FetchPath;
  /** The last ones before it in the planner's sequences. The same array for all fetches that wait for the same ones. */
  readonly after: readonly PlannedFetch[];
}

/** One fetch of root fields, or entity fetches from one subgraph. */
export type FetchBatch = readonly PlannedFetch[];

interface ScheduledNode {
  readonly last: readonly PlannedFetch[];
  readonly levelCount: number;
}

/**
 * Batches the entity fetches from one subgraph on one level, counted in each of the parallel branches (`npm run bench`: 7 requests instead of 16).
 * Fetches of a batch that wait for different ones are sent together only if they become ready at nearly the same time (../../run/request-order.ts).
 * @returns the batches level by level.
 */
export function scheduleFetches(plan: PlanNode): readonly FetchBatch[] {
  const levels: Map<unknown, PlannedFetch[]>[] = [];

  function addFetch(fetch: PlannedFetch, level: number): void {
    const batches = (levels[level] ??= new Map());
    // A fetch of root fields has its own batch: the planner has already merged what can be merged. So has one with contextual arguments, whose
    // document depends on their values (context-requests.ts).
    const { requires, contextRewrites, serviceName } = fetch.node;
    const key = requires && !contextRewrites ? serviceName : fetch;
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

  addNode(orderContexts(plan), [], [], 0);
  return levels.flatMap((batches) => [...batches.values()]);
}
