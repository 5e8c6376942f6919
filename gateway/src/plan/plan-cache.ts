// The cache of query plans of one generation, which plan.ts reads before it calls the planner. Plans are stored as JSON, which takes a tenth of the
// memory of objects. A cached plan is read again only when its compiled plan was evicted, or when two documents have the same normalized operation.
// Limits: PLANS_MAX and PLANS_BYTES_MAX.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { GatewayObserver } from "../observations.ts";
import { type SupergraphPlanner, planKey } from "./planner/supergraph-planner.ts";

export interface PlanCache {
  /**
   * Returns a `QueryPlan` as JSON, from the cache or from the planner. Rejects as the planner does; failures are not cached.
   * @param enabledLabels labels of progressive `@override` that are true.
   */
  plan(operationText: string, enabledLabels?: readonly string[]): Promise<string>;
  size(): MapSize;
}

export interface PlanCacheOptions {
  readonly planner: Pick<SupergraphPlanner, "plan">;
  readonly plansMax: number;
  readonly bytesMax: number;
  readonly observe: GatewayObserver;
}

/** The estimated bytes of an entry besides its key and its plan, whose characters count as one byte each. */
const entryBytes = 200;

/** The key is the text of the normalized operation with the enabled labels. A plan larger than `bytesMax` is not cached. */
export function createPlanCache({ planner, plansMax, bytesMax, observe }: PlanCacheOptions): PlanCache {
  const cache = createBoundedMap<string>({
    entriesMax: plansMax,
    weightMax: bytesMax,
    onEvicted: () => observe({ kind: "cache-evicted", cache: "plans" }),
  });

  return {
    size: cache.size,
    async plan(operationText, enabledLabels = []) {
      const key = planKey(operationText, enabledLabels);
      const cached = cache.get(key);
      observe({ kind: cached === undefined ? "plan-cache-miss" : "plan-cache-hit" });
      if (cached !== undefined) return cached;
      const planJson = await planner.plan(operationText, enabledLabels);
      cache.set(key, planJson, key.length + planJson.length + entryBytes);
      return planJson;
    },
  };
}
