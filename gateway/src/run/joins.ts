// Stage 4 of 5: fetch it. What fetches brought, found by the objects that it belongs to: subgraphs' answers are shared between requests
// and never changed, so nothing is merged into them.
import type { Join } from "../plan/compile/compiled-plan.ts";
import type { Source } from "./memoize-by-source.ts";
import type { RepresentationSet } from "./representations.ts";

export interface SourceJoin extends Join, Source {}

type Json = Readonly<Record<string, unknown>>;

/** The same data for every object: a fetch of root fields. */
export function joinToAll(data: Json): SourceJoin {
  return { find: () => data };
}

/** @param entities as many as there are representations; undefined where one is missing or was refused. */
export function joinEntities({ indexOf }: RepresentationSet, entities: readonly (Json | undefined)[]): SourceJoin {
  return {
    find(object) {
      const index = indexOf(object);
      return index === undefined ? undefined : entities[index];
    },
  };
}
