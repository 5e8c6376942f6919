// Stage 4 of 5: run. The entities and results of root fields that entity-cache.ts stores.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { GroupIndex } from "@tributary/kit/invalidation/group-index";
import type { Json } from "@tributary/kit/json/json";
import type { Lifetime } from "./freshness.ts";

/** Never changed: several client requests read it. */
export interface StoredResult extends Lifetime {
  readonly key: string;
  /** By its name in the configuration. */
  readonly origin: string;
  readonly data: Json;
  readonly groups: readonly string[];
  isStored: boolean;
}

export type NewResult = Omit<StoredResult, "isStored">;

export type EntityStore = ReturnType<typeof createEntityStore>;

/** Without its contents: the entry of the map, the object, and its list of groups. */
const resultBytes = 400;
/** Its name and its entry in the index. */
const groupBytes = 150;

interface EntityStoreOptions {
  readonly bytesMax: number;
  readonly onEvicted: () => void;
}

export function createEntityStore({ bytesMax, onEvicted }: EntityStoreOptions) {
  const groupIndex = new GroupIndex<StoredResult>();
  const results = createBoundedMap<StoredResult>({
    entriesMax: Infinity,
    weightMax: bytesMax,
    onRemoved(result) {
      result.isStored = false;
      groupIndex.delete(result);
    },
    onEvicted,
  });

  return {
    find: (key: string) => results.get(key),
    put(newResult: NewResult): void {
      const result = { ...newResult, isStored: true };
      if (!results.set(result.key, result, estimateBytes(result))) return;
      groupIndex.add(result);
    },
    deleteGroup(group: string, origin: string): void {
      for (const { key } of groupIndex.list(group, origin)) results.delete(key);
    },
    deleteOrigin(origin: string): void {
      for (const result of results.values()) if (result.origin === origin) results.delete(result.key);
    },
    size: results.size,
  };
}

/** A parsed value takes about twice the length of its JSON. */
function estimateBytes({ key, data, groups }: StoredResult): number {
  return resultBytes + 2 * key.length + 2 * stringifyDeepJson(data).length + groupBytes * groups.length;
}
