// Stage 3 of 5: plan. The query plans of one supergraph, cached as JSON: a tenth of what they take as objects, and they are rarely read
// again, because compiled operations are cached too.
import { createBoundedMap, type KeptSize } from "@tributary/kit/collections/bounded-map";
import type { GatewayObserver } from "../observations.ts";
import { type SupergraphPlanner, planKey } from "./planner/supergraph-planner.ts";

export interface PlanCache {
  /**
   * The cached plan, or a new one, with these labels of `@override` true: a `QueryPlan` as JSON. Rejects as the planner does; a failure
   * is not cached.
   */
  plan(operationText: string, enabledLabels?: readonly string[]): Promise<string>;
  size(): KeptSize;
}

export interface PlanCacheOptions {
  readonly planner: Pick<SupergraphPlanner, "plan">;
  readonly plansMax: number;
  readonly bytesMax: number;
  readonly observe: GatewayObserver;
}

/** What an entry takes beside its key and its plan. */
const entryBytes = 200;

/** Keyed by the normalized operation and the enabled labels. Belongs to one generation. A plan larger than the whole cache is not cached. */
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
