import { AppError } from "@tributary/kit/errors/app-error";
import { createKeysOf } from "./cache-keys.ts";
import { createSharedCache, type SharedCache, type SharedCacheOptions } from "./cache/shared-cache.ts";
import type { RouteTable } from "./route-table.ts";
import type { Observe } from "./telemetry/observations.ts";
import type { CacheObserver } from "./telemetry/cache-counts.ts";

export interface ResourceCacheOptions {
  readonly table: RouteTable;
  readonly nowMs: () => number;
  readonly observe: Observe;
  /** Undefined where nobody watches. */
  readonly watch?: CacheObserver | undefined;
}

/** What it holds at the most. */
export type CacheLimits = Pick<
  SharedCacheOptions,
  "bytesMax" | "entryBytesMax" | "entriesMax" | "variantsMax" | "asideMax"
>;

/** The shared cache in front of the services; they speak to it in `CDN-Cache-Control` where it may keep longer than others. */
export function createResourceCache(limits: CacheLimits, o: ResourceCacheOptions): SharedCache {
  const { table, nowMs, observe, watch } = o;
  const cache = createSharedCache({
    ...limits,
    name: "tributary",
    targetedFields: ["cdn-cache-control"],
    nowMs,
    keysOf: createKeysOf(table),
    isUnsent: (error) => error instanceof AppError && error.code === "SERVICE_UNAVAILABLE",
    observe(observation) {
      watch?.count(observation);
      if (observation.kind !== "refresh-failed") return;
      const { origin: service, ...failed } = observation;
      observe({ ...failed, service });
    },
  });
  watch?.watch(() => cache.size, limits.bytesMax);
  return cache;
}
