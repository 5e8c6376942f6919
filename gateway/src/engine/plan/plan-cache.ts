// The query plans of one generation, as JSON, which takes a tenth of the memory of objects. A cached plan is read again only when its compiled plan
// was evicted, or when two documents have the same normalized operation.
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import type { DocumentCpu } from "../../document-cpu.ts";
import type { GatewayObserver } from "../../observations.ts";
import { type SupergraphPlanner, planKey } from "./planner/supergraph-planner.ts";

export interface PlanCacheOptions {
  readonly planner: Pick<SupergraphPlanner, "plan">;
  readonly plansMax: number;
  readonly plansBytesMax: number;
  readonly observe: GatewayObserver;
}

/** The estimated bytes of an entry besides its key and its plan, whose characters count as one byte each. */
const entryBytes = 200;

/** A plan larger than `plansBytesMax` is not cached. */
export function createPlanCache({ planner, plansMax, plansBytesMax, observe }: PlanCacheOptions) {
  const cache = createBoundedMap<string>({
    entriesMax: plansMax,
    weightMax: plansBytesMax,
    onEvicted: () => observe({ kind: "cache-evicted", cache: "plans" }),
  });

  return {
    size: cache.size,
    /** Failures are not cached. */
    async plan(operationText: string, enabledLabels: readonly string[], cpu?: DocumentCpu): Promise<string> {
      const key = planKey(operationText, enabledLabels);
      const cached = cache.get(key);
      observe({ kind: cached === undefined ? "plan-cache-miss" : "plan-cache-hit" });
      if (cached !== undefined) return cached;
      const planJson = await planner.plan(operationText, enabledLabels, cpu);
      cache.set(key, planJson, key.length + planJson.length + entryBytes);
      return planJson;
    },
  };
}
