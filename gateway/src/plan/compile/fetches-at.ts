// Stage 3 of 5: how to answer? Which fetches bring something for the objects at a place.
import type { CompiledFetch } from "./compiled-plan.ts";

/** @param path planner keys from the root, as in `CompiledFetch.paths`. In the plan's order. */
export function fetchesAt(fetches: readonly CompiledFetch[], path: readonly string[]): readonly CompiledFetch[] {
  return fetches.filter(({ paths }) =>
    paths.some((at) => at.length === path.length && at.every((key, i) => key === path[i])),
  );
}
