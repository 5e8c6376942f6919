/** The limits of all callers and classes, counted in this process or, with a store, by leases that all gateways and REST proxies share. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Caller } from "../caller/caller.ts";
import { addressOf, toAddressKey } from "../caller/client-address.ts";
import { createNetworks } from "../caller/networks.ts";
import type { RateLimitState } from "../process/process-status.ts";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { createLeasedLimit, type LeaseMissed } from "./leased-limit.ts";
import { createLeaseStore, type LeaseStore, type LeaseStoreObservation } from "./lease-store.ts";
import { createLocalLimit } from "./local-limit.ts";
import type { RateLimitConfig } from "./rate-limit-config.ts";
import { type ClassLimit, type RateDecision, type RequestClass, toWholeSeconds } from "./rate-decision.ts";

type LimitedCaller = Pick<Caller, "key" | "address">;

/** A charge returns undefined for a caller that is not limited. */
export interface CallerLimits {
  /** 0: no limit. */
  quotaOf(requestClass: RequestClass): number;
  /** Limits a flood of invalid tokens: charges 1 read to a separate limit of the client key or address. */
  chargeVerification(request: IncomingMessage): RateDecision | undefined;
  charge(caller: LimitedCaller, requestClass: RequestClass, weight: number): RateDecision | undefined;
  /** Charges like `charge`. @returns the decision only if the charge is rejected. */
  admit(caller: LimitedCaller, requestClass: RequestClass, weight: number): RateDecision | undefined;
  /** For work that is already done, such as the validation of a document. */
  debit(caller: LimitedCaller, requestClass: RequestClass, weight: number): void;
  refund(caller: LimitedCaller, requestClass: RequestClass, weight: number): void;
  /** Charges input that is not a valid request to the socket's address. Undefined for a trusted proxy: the caller is unknown. */
  chargeUnreadable(socket: Socket): RateDecision | undefined;
  /** draft-ietf-httpapi-ratelimit-headers-10 */
  addHeaders(requestClass: RequestClass, decision: RateDecision, headers: string[]): void;
  /** Who gets its share of a service's places. Undefined for an exempt address, which needs none. */
  shareKeyOf(caller: LimitedCaller): string | undefined;
  readState(): RateLimitState;
  close(): Promise<void>;
}

export interface CallerLimitsOptions extends RateLimitConfig {
  readonly callers: { callerWithoutToken(request: IncomingMessage): LimitedCaller };
  readonly trustedProxies: readonly string[];
  readonly observe?: RateLimitObserver | undefined;
  readonly nowMs?: (() => number) | undefined;
}

export type RateLimitObservation =
  | LeaseStoreObservation
  | { readonly kind: "rate-limited"; readonly requestClass: RequestClass }
  | LeaseMissed;

export type RateLimitObserver = (observation: RateLimitObservation) => void;

const windowMs = 60_000;
const addressesMax = 10_000;

export function createCallerLimits(options: CallerLimitsOptions): CallerLimits {
  const { callers, observe = () => {}, nowMs = () => performance.now(), callersMax } = options;
  const { readsPerMinute: reads, writesPerMinute: writes } = options;
  const trustedProxies = createNetworks(options.trustedProxies);
  const isExempt = createExemptions(options.exempt);
  const store = createStore(options, observe);
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

  function limitOf(address: string, requestClass: RequestClass): ClassLimit | undefined {
    const limit = limits[requestClass];
    return limit && !isExempt(address) ? limit : undefined;
  }

  function observed(requestClass: RequestClass, decision: RateDecision | undefined): RateDecision | undefined {
    if (decision && !decision.isAdmitted) observe({ kind: "rate-limited", requestClass });
    return decision;
  }

  return {
    quotaOf: (requestClass) => quotas[requestClass],
    chargeVerification(request) {
      if (!limits.reads) return undefined;
      const { key, address } = callers.callerWithoutToken(request);
      return observed("reads", limitOf(address, "reads")?.charge(`unverified:${key}`, 1));
    },
    charge: ({ key, address }, requestClass, weight) =>
      observed(requestClass, limitOf(address, requestClass)?.charge(key, weight)),
    admit: ({ key, address }, requestClass, weight) =>
      observed(requestClass, limitOf(address, requestClass)?.admit(key, weight)),
    debit: ({ key, address }, requestClass, weight) => limitOf(address, requestClass)?.debit(key, weight),
    refund: ({ key, address }, requestClass, weight) => limitOf(address, requestClass)?.refund(key, weight),
    chargeUnreadable(socket) {
      const address = addressOf(socket);
      if (trustedProxies.has(address)) return undefined;
      return observed("reads", limitOf(address, "reads")?.charge(toAddressKey(address), 1));
    },
    addHeaders(requestClass, { remaining, resetMs }, headers) {
      const resetSeconds = toWholeSeconds(resetMs);
      headers.push("RateLimit-Policy", policies[requestClass]);
      headers.push("RateLimit", `"${requestClass}";r=${remaining};t=${resetSeconds}`);
    },
    shareKeyOf: ({ key, address }) => (isExempt(address) ? undefined : key),
    readState: () => ({
      readsPerMinute: reads,
      writesPerMinute: writes,
      store: store && (store.isAvailable() ? "available" : "unavailable"),
    }),
    close: () => store?.close() ?? Promise.resolve(),
  };
}

function createExemptions(exempt: readonly string[]): (address: string) => boolean {
  const networks = createNetworks(exempt);
  if (networks.isEmpty) return () => false;
  const exemptions = createBoundedMap<boolean>({ entriesMax: addressesMax });
  return (address) => {
    const known = exemptions.get(address);
    if (known !== undefined) return known;
    const isInNetworks = networks.has(address);
    exemptions.set(address, isInNetworks);
    return isInNetworks;
  };
}

function createStore(options: CallerLimitsOptions, observe: RateLimitObserver): LeaseStore | undefined {
  const { storeUrl, storePassword, processesMin } = options;
  if (storeUrl === undefined) return undefined;
  return createLeaseStore({ url: storeUrl, password: storePassword, processesMin, observe });
}
