/** With a store, a caller has one limit for the gateway and the REST proxy. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Caller, Callers } from "../caller/caller.ts";
import { addressOf, toAddressKey } from "../caller/client-address.ts";
import { createNetworks } from "../caller/networks.ts";
import { createBoundedMap } from "../collections/bounded-map.ts";
import type { RateDecision, RequestClass } from "./rate-decision.ts";
import { createRateLimits, type RateLimits, type RateLimitsOptions } from "./rate-limits.ts";

type LimitedCaller = Pick<Caller, "key" | "address">;

/** A charge returns undefined for a caller that is not limited. */
export interface CallerLimits {
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
  quotaOf: RateLimits["quotaOf"];
  addHeaders: RateLimits["addHeaders"];
  close: RateLimits["close"];
}

export interface CallerLimitsOptions extends RateLimitsOptions {
  readonly callers: Callers;
  readonly exempt: readonly string[];
  readonly trustedProxies: readonly string[];
}

const addressesMax = 10_000;

export function createCallerLimits(options: CallerLimitsOptions): CallerLimits {
  const { callers } = options;
  const limits = createRateLimits(options);
  const trustedProxies = createNetworks(options.trustedProxies);
  const exemptNetworks = createNetworks(options.exempt);
  const exemptions = createBoundedMap<boolean>({ entriesMax: addressesMax });

  function isExempt(address: string): boolean {
    if (exemptNetworks.isEmpty) return false;
    const known = exemptions.get(address);
    if (known !== undefined) return known;
    const isInNetworks = exemptNetworks.has(address);
    exemptions.set(address, isInNetworks);
    return isInNetworks;
  }

  function isLimited(address: string, requestClass: RequestClass): boolean {
    return limits.quotaOf(requestClass) !== 0 && !isExempt(address);
  }

  return {
    chargeVerification(request) {
      if (limits.quotaOf("reads") === 0) return undefined;
      const { key, address } = callers.callerWithoutToken(request);
      return isExempt(address) ? undefined : limits.charge(`unverified:${key}`, "reads", 1);
    },
    charge({ key, address }, requestClass, weight) {
      return isLimited(address, requestClass) ? limits.charge(key, requestClass, weight) : undefined;
    },
    admit({ key, address }, requestClass, weight) {
      return isLimited(address, requestClass) ? limits.admit(key, requestClass, weight) : undefined;
    },
    debit({ key, address }, requestClass, weight) {
      if (!isExempt(address)) limits.debit(key, requestClass, weight);
    },
    refund({ key, address }, requestClass, weight) {
      if (!isExempt(address)) limits.refund(key, requestClass, weight);
    },
    chargeUnreadable(socket) {
      const address = addressOf(socket);
      if (trustedProxies.has(address) || !isLimited(address, "reads")) return undefined;
      return limits.charge(toAddressKey(address), "reads", 1);
    },
    quotaOf: limits.quotaOf,
    addHeaders: limits.addHeaders,
    close: limits.close,
  };
}
