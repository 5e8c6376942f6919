// Stage 4 of 5: run. The entities and results of root fields that entity-cache.ts stores, in one bounded map, with an index by cache group.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { Json } from "@tributary/kit/json/json";

/** An entity, or the data of a request for root fields. Never changed: several client requests read it. */
export interface StoredResult {
  readonly key: string;
  readonly service: string;
  readonly data: Json;
  readonly groups: readonly string[];
  /** When its request was sent, by the process's monotonic clock. */
  readonly sentAtMs: number;
  /** How long it is fresh after `sentAtMs`, or after the service's feed has last confirmed it. */
  readonly freshMs: number;
  /** Whether it is fresh for `freshMs` only while the service's feed is up. */
  readonly needsFeed: boolean;
  /** Mutations of this process to the service that had settled when its request was sent. */
  readonly settledWrites: number;
  /** Whether it is in the store. */
  isStored: boolean;
}

/**
 * A feed confirms a result for this time after its request, or for `freshMs` if longer. Afterwards the result is fetched again, so a change that was
 * never published is seen too.
 */
const confirmedMsMin = 60_000;

/** How long after its request a result may be used while the service's feed, if it needs one, is up. */
export function confirmedMsOf({ needsFeed, freshMs }: Pick<StoredResult, "needsFeed" | "freshMs">): number {
  return needsFeed ? Math.max(confirmedMsMin, freshMs) : freshMs;
}

export type NewResult = Omit<StoredResult, "isStored">;

export interface EntityStore {
  find(key: string): StoredResult | undefined;
  /** Replaces the result of the key. */
  put(result: NewResult): void;
  /** Removes the results in this cache group of the service. */
  deleteGroup(service: string, group: string): void;
  deleteService(service: string): void;
  /** The weight is estimated memory in bytes. */
  size(): MapSize;
}

/** Estimated memory of a result without its contents: the entry of the map, the object, and its list of groups. */
const resultBytes = 400;
/** Estimated memory of a group of a result: its name and its entry in the index. */
const groupBytes = 150;

interface EntityStoreOptions {
  /** Estimated memory. */
  readonly bytesMax: number;
  /** Called for each result that the limit evicts. */
  readonly onEvicted: () => void;
}

export function createEntityStore({ bytesMax, onEvicted }: EntityStoreOptions): EntityStore {
  const byGroup = new Map<string, Set<StoredResult>>();
  const results = createBoundedMap<StoredResult>({
    entriesMax: Infinity,
    weightMax: bytesMax,
    onRemoved: (result) => removeFromIndex(result),
    onEvicted,
  });

  function removeFromIndex(result: StoredResult): void {
    result.isStored = false;
    for (const group of result.groups) {
      const name = nameGroup(result.service, group);
      const members = byGroup.get(name);
      members?.delete(result);
      if (members?.size === 0) byGroup.delete(name);
    }
  }

  return {
    find: (key) => results.get(key),
    put(newResult) {
      const result = { ...newResult, isStored: true };
      // A result that alone exceeds `bytesMax` is not stored.
      if (!results.set(result.key, result, estimateBytes(result))) return;
      for (const group of result.groups) {
        const name = nameGroup(result.service, group);
        const members = byGroup.get(name);
        if (members) members.add(result);
        else byGroup.set(name, new Set([result]));
      }
    },
    deleteGroup(service, group) {
      for (const { key } of byGroup.get(nameGroup(service, group)) ?? []) results.delete(key);
    },
    deleteService(service) {
      for (const result of results.values()) if (result.service === service) results.delete(result.key);
    },
    size: results.size,
  };
}

/** Group names contain no line break (RFC 9875, 2). */
export function nameGroup(service: string, group: string): string {
  return `${service}\n${group}`;
}

/** A parsed value takes about twice the length of its JSON. */
function estimateBytes({ key, data, groups }: StoredResult): number {
  return resultBytes + 2 * key.length + 2 * stringifyDeepJson(data).length + groupBytes * groups.length;
}
