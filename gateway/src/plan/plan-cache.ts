// Stage 3 of 5: how to answer? The plans of one supergraph that are kept, the least recently used ones dropped first.
import type { QueryPlan } from "@apollo/query-planner";
import type { KeptSize } from "../parse/bounded-map.ts";
import type { Observe } from "../telemetry/observations.ts";
import { type LoadedPlanner, type MeasuredPlan, planKey } from "./planner/loaded-planner.ts";

export interface PlanCache {
  /** The cached plan, or a new one, with these labels of `@override` true. Rejects as the planner does; a failure is not cached. */
  plan(operationText: string, enabledLabels?: readonly string[]): Promise<QueryPlan>;
  size(): KeptSize;
}

export interface PlanCacheOptions {
  readonly planner: Pick<LoadedPlanner, "plan">;
  readonly plansMax: number;
  /** Of plans as JSON and of the operations they are for; in memory they take a few times as much. */
  readonly bytesMax: number;
  readonly observe: Observe;
}

interface Kept {
  readonly plan: QueryPlan;
  readonly bytes: number;
}

/** Keyed by the normalized operation and the enabled labels. Belongs to one generation. A plan larger than the whole cache is not cached. */
export function createPlanCache({ planner, plansMax, bytesMax, observe }: PlanCacheOptions): PlanCache {
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  function keep(key: string, { plan, jsonCharacters }: MeasuredPlan): void {
    const size = key.length + jsonCharacters;
    if (kept.has(key) || size > bytesMax) return;
    kept.set(key, { plan, bytes: size });
    bytes += size;
    for (const oldest of kept.keys()) {
      if (kept.size <= plansMax && bytes <= bytesMax) break;
      drop(oldest);
      observe({ kind: "cache-evicted", cache: "plans" });
    }
  }

  return {
    size: () => ({ entries: kept.size, bytes }),
    async plan(operationText, enabledLabels = []) {
      const key = planKey(operationText, enabledLabels);
      const found = kept.get(key);
      observe({ kind: found ? "plan-cache-hit" : "plan-cache-miss" });
      if (found) {
        kept.delete(key);
        kept.set(key, found);
        return found.plan;
      }
      const measured = await planner.plan(operationText, enabledLabels);
      keep(key, measured);
      return measured.plan;
    },
  };
}
