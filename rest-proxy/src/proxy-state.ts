// What `/status` says of the REST proxy. Read when it is requested.
import type { Admission } from "@tributary/kit/admission/admission";
import type { Feeds } from "@tributary/kit/consistency/feeds";
import type { ProcessState } from "@tributary/kit/process/process-status";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import type { SharedCache } from "./cache/shared-cache.ts";
import type { ProxyConfig } from "./config.ts";
import type { Services } from "./forward/services.ts";
import type { RouteTable } from "./route/route-table.ts";

export interface ProxyStateOptions {
  readonly config: Pick<ProxyConfig, "build" | "routesFile" | "addresses">;
  readonly table: RouteTable;
  readonly services: Services;
  readonly feeds: Feeds;
  readonly cache: SharedCache;
  readonly admission: Admission;
  readonly callerLimits: CallerLimits;
}

export function readProxyState(o: ProxyStateOptions): ProcessState {
  return {
    ...o.config.build,
    routes: { file: o.config.routesFile, versions: o.table.versions },
    services: Object.keys(o.config.addresses).map((service) => {
      const isFollowed = o.feeds.isUp(service);
      const feed = isFollowed === undefined ? undefined : isFollowed ? "up" : "down";
      return { service, ...o.services.readStatus(service), feed };
    }),
    caches: { responses: o.cache.size },
    admission: o.admission.readState(),
    rateLimits: o.callerLimits.readState(),
  };
}
