// Stage 3 of 5: how to answer? The plans of one supergraph that are kept, the least recently used ones dropped first.
import type { QueryPlan } from "@apollo/query-planner";
import type { KeptSize } from "../parse/bounded-map.ts";
import type { Observe } from "../telemetry/observations.ts";
import type { LoadedPlanner, MeasuredPlan } from "./planner/loaded-planner.ts";

export interface PlanCache {
  /** The plan that is kept, or a new one. Fails as the planner does; a failure is not kept here. */
  plan(operationText: string): Promise<QueryPlan>;
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

/** Keyed by the normalized operation; it belongs to one generation, and goes with it. A plan larger than the whole cache is not kept. */
export function createPlanCache({ planner, plansMax, bytesMax, observe }: PlanCacheOptions): PlanCache {
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(operationText: string): void {
    bytes -= kept.get(operationText)?.bytes ?? 0;
    kept.delete(operationText);
  }

  function keep(operationText: string, { plan, jsonCharacters }: MeasuredPlan): void {
    const size = operationText.length + jsonCharacters;
    if (kept.has(operationText) || size > bytesMax) return;
    kept.set(operationText, { plan, bytes: size });
    bytes += size;
    for (const oldest of kept.keys()) {
      if (kept.size <= plansMax && bytes <= bytesMax) break;
      drop(oldest);
      observe({ kind: "cache-evicted", cache: "plans" });
    }
  }

  return {
    size: () => ({ entries: kept.size, bytes }),
    async plan(operationText) {
      const found = kept.get(operationText);
      observe({ kind: found ? "plan-cache-hit" : "plan-cache-miss" });
      if (found) {
        kept.delete(operationText);
        kept.set(operationText, found);
        return found.plan;
      }
      const measured = await planner.plan(operationText);
      keep(operationText, measured);
      return measured.plan;
    },
  };
}
