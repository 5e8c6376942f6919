/** Stage 3 of 5: cache. The shared cache (`cache/`) as the proxy uses it: limits, keys and lookups. */
import type { ContentCoding } from "@tributary/kit/http/accept";
import { parseConnectionNames } from "@tributary/kit/http/raw-headers";
import type { CacheableRequest, CacheLookup } from "../cache/cache-request.ts";
import { createSharedCache, type SharedCache, type SharedCacheOptions } from "../cache/shared-cache.ts";
import { normalizedHeader } from "../cache/vary.ts";
import { isRefused, ServiceFailure } from "../errors/service-failure.ts";
import type { RouteTable } from "../route/route-table.ts";
import type { Route } from "../route/routes.ts";
import { splitVersion } from "../route/version.ts";
import type { CacheObserver } from "../telemetry/cache-counts.ts";
import type { Observe } from "../telemetry/observations.ts";

export interface ResourceCacheOptions {
  readonly table: RouteTable;
  readonly nowMs: () => number;
  /** Undefined for a service without a feed. */
  readonly isFollowed: (service: string) => boolean | undefined;
  readonly observe: Observe;
  readonly observer?: CacheObserver | undefined;
}

export type CacheLimits = Pick<
  SharedCacheOptions,
  "bytesMax" | "entryBytesMax" | "entriesMax" | "variantsMax" | "backgroundMax"
>;

export function createResourceCache(
  limits: CacheLimits,
  { table, nowMs, isFollowed, observe, observer }: ResourceCacheOptions,
): SharedCache {
  const cache = createSharedCache({
    ...limits,
    name: "tributary",
    nowMs,
    isFollowed,
    keysOf: createKeysOf(table),
    // A keyed write that the breaker ended may have been sent; one that was too late to be sent was not.
    isUnsent: (error) => isRefused(error) || (error instanceof ServiceFailure && error.replica === undefined),
    observe(observation) {
      observer?.count(observation);
      if (observation.kind !== "refresh-failed") return;
      const { kind, key, cause, origin } = observation;
      observe({ kind, key, cause, service: origin });
    },
  });
  observer?.watch(() => cache.size, limits.bytesMax);
  return cache;
}

/** `Accept` makes no variants: it only selects the version. @param key the canonical version, path and query: `/v2/things?first=5`. */
export function createLookup(
  request: CacheableRequest,
  { service, cache, heuristicSecondsMax }: Pick<Route, "service" | "cache" | "heuristicSecondsMax">,
  key: string,
  coding: ContentCoding | undefined,
): CacheLookup {
  const { headers } = request;
  const varyValueOf = (field: string) => {
    // As in the request that is forwarded, which has no field that `Connection` names.
    if (field === "accept" || parseConnectionNames(headers.connection).has(field)) return undefined;
    if (field === "accept-encoding") return coding;
    return normalizedHeader(headers, field);
  };
  // The service gets the client's cookies and address.
  const isForClientOnly = cache === "none";
  return { origin: service, key, request, varyValueOf, heuristicSecondsMax, isForClientOnly };
}

/** No request is sent there. */
const placeholderOrigin = "http://self.invalid";

/**
 * In all versions, since a write in one changes the resource in all; without a query. None for another origin or a path without a route.
 * @param reference `Location` or `Content-Location` of the response to a write, or `key`, against which a relative one is resolved.
 */
export function createKeysOf(table: RouteTable): (reference: string, key: string) => readonly string[] {
  return (reference, key) => {
    const base = placeholderOrigin + key;
    if (!URL.canParse(reference, base)) return [];
    const { origin, pathname } = new URL(reference, base);
    if (origin !== placeholderOrigin) return [];
    const { path } = splitVersion(pathname);
    const keys: string[] = [];
    for (const version of table.versionsAt(path)) {
      const entry = table.find(version, path);
      if (entry) keys.push(entry.path);
    }
    return keys;
  };
}
