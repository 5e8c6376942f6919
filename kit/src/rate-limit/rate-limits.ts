/** The limits of all classes, counted in this process or, with a store, by leases. */
import { createLeasedLimit, type LeaseMissed } from "./leased-limit.ts";
import { createLeaseStore, type LeaseStore, type LeaseStoreObservation } from "./lease-store.ts";
import { createLocalLimit } from "./local-limit.ts";
import type { ClassLimit, RateDecision, RequestClass } from "./rate-decision.ts";

export interface RateLimits {
  /** 0: no limit. */
  quotaOf(requestClass: RequestClass): number;
  charge(key: string, requestClass: RequestClass, weight: number): RateDecision;
  admit(key: string, requestClass: RequestClass, weight: number): RateDecision | undefined;
  debit(key: string, requestClass: RequestClass, weight: number): void;
  refund(key: string, requestClass: RequestClass, weight: number): void;
  /** draft-ietf-httpapi-ratelimit-headers-10 */
  addHeaders(requestClass: RequestClass, decision: RateDecision, headers: string[]): void;
  close(): Promise<void>;
}

export interface RateLimitsOptions {
  /** 0: no limit. */
  readonly readsPerMinute: number;
  /** 0: no limit. */
  readonly writesPerMinute: number;
  readonly callersMax: number;
  /** Undefined: a caller has the whole quota in each process. */
  readonly storeUrl?: string | undefined;
  readonly storePassword?: string | undefined;
  readonly processesMin: number;
  readonly observe?: RateLimitObserver | undefined;
  readonly nowMs?: (() => number) | undefined;
}

export type RateLimitObservation =
  | LeaseStoreObservation
  | { readonly kind: "rate-limited"; readonly requestClass: RequestClass }
  | LeaseMissed;

export type RateLimitObserver = (observation: RateLimitObservation) => void;

export const windowMs = 60_000;

const unlimited: RateDecision = {
  isAdmitted: true,
  remaining: Infinity,
  resetMs: 0,
  retryMs: 0,
};

export function createRateLimits(options: RateLimitsOptions): RateLimits {
  const { observe = () => {}, nowMs = () => performance.now(), callersMax } = options;
  const store = createStore(options, observe);
  const { readsPerMinute: reads, writesPerMinute: writes } = options;
  // A caller exceeds `requests` only by the CPU time of its documents.
  const quotas = { requests: reads === 0 || writes === 0 ? 0 : reads + writes, reads, writes };
  const limits = { requests: createLimit("requests"), reads: createLimit("reads"), writes: createLimit("writes") };
  const policies = { requests: policyOf("requests"), reads: policyOf("reads"), writes: policyOf("writes") };

  function createLimit(requestClass: RequestClass): ClassLimit | undefined {
    const quota = quotas[requestClass];
    if (quota === 0) return undefined;
    if (!store) return createLocalLimit({ quota: () => quota, windowMs, callersMax, nowMs });
    return createLeasedLimit({ requestClass, quota, windowMs, callersMax, store, observe, nowMs });
  }

  function policyOf(requestClass: RequestClass): string {
    return `"${requestClass}";q=${quotas[requestClass]};w=${windowMs / 1_000}`;
  }

  return {
    quotaOf: (requestClass) => quotas[requestClass],
    charge(key, requestClass, weight) {
      const decision = limits[requestClass]?.charge(key, weight) ?? unlimited;
      if (!decision.isAdmitted) observe({ kind: "rate-limited", requestClass });
      return decision;
    },
    admit(key, requestClass, weight) {
      const rejected = limits[requestClass]?.admit(key, weight);
      if (rejected) observe({ kind: "rate-limited", requestClass });
      return rejected;
    },
    debit: (key, requestClass, weight) => limits[requestClass]?.debit(key, weight),
    refund: (key, requestClass, weight) => limits[requestClass]?.refund(key, weight),
    addHeaders(requestClass, { remaining, resetMs }, headers) {
      if (remaining === Infinity) return;
      const resetSeconds = Math.ceil(resetMs / 1_000);
      headers.push("RateLimit-Policy", policies[requestClass]);
      headers.push("RateLimit", `"${requestClass}";r=${remaining};t=${resetSeconds}`);
    },
    close: () => store?.close() ?? Promise.resolve(),
  };
}

function createStore(options: RateLimitsOptions, observe: RateLimitObserver): LeaseStore | undefined {
  const { storeUrl, storePassword, processesMin } = options;
  if (storeUrl === undefined) return undefined;
  return createLeaseStore({ url: storeUrl, password: storePassword, processesMin, observe });
}
