// Stage 4 of 5: run. Data joins: the data of a fetch, found by the objects it belongs to. accept-response.ts creates one for each fetch. Subgraph
// responses are shared between requests and never changed, so nothing is merged into them.
import type { Json } from "@tributary/kit/json/json";
import type { DataJoin } from "../plan/compile/compiled-plan.ts";
import type { MemoSource } from "./caching/memoize-by-source.ts";
import type { RepresentationSet } from "./representations.ts";

export interface SourceDataJoin extends DataJoin, MemoSource {}

/** The data of a fetch of root fields: the same for every object. */
export function joinToAll(data: Json): SourceDataJoin {
  return { find: () => data };
}

/** @param entities undefined for a missing or rejected one. */
export function joinEntities(
  { indexOf, leftOut, targets }: RepresentationSet,
  entities: readonly (Json | undefined)[],
): SourceDataJoin {
  return {
    find(object) {
      const index = indexOf(object);
      return index === undefined ? undefined : entities[index];
    },
    leftOut,
    targets,
  };
}

/** The data of one fetch that was sent at two times, each for other positions. */
export function combineJoins(earlier: DataJoin, later: DataJoin): SourceDataJoin {
  const hasLeftOut = earlier.leftOut !== undefined || later.leftOut !== undefined;
  const leftOut = hasLeftOut ? new Set([...(earlier.leftOut ?? []), ...(later.leftOut ?? [])]) : undefined;
  return { find: (object) => earlier.find(object) ?? later.find(object), leftOut };
}
