/**
 * Stage 1 of 5: admit. Rate limits by caller; `pipeline.ts` calls the other parts of the stage. Reads and writes are counted separately, so that a
 * polling page cannot block its user's writes.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { AppError } from "@tributary/kit/errors/app-error";
import type { Caller } from "@tributary/kit/caller/caller";
import { addressOf, toAddressKey } from "@tributary/kit/caller/client-address";
import { createNetworks } from "@tributary/kit/caller/networks";
import { createRateLimit, type RateDecision, type RateLimit } from "./rate-limit.ts";

export interface AdmissionLimits {
  /** `GET` and `HEAD`; 0: no limit. */
  readonly readsPerMinute: number;
  /** Every other method except `OPTIONS`; 0: no limit. */
  readonly writesPerMinute: number;
  /** Clients counted at the same time, for reads and for writes. */
  readonly clientsMax: number;
  /** Networks whose requests are not counted. */
  readonly exempt: readonly string[];
}

export interface AdmissionOptions extends AdmissionLimits {
  /** Networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly nowMs: () => number;
}

export interface Admission {
  /**
   * Counts a request, unless its caller's address is exempt, its method is `OPTIONS` or there is no limit. For a counted request, also a rejected one, the rate
   * limit headers are pushed to `headers`, as alternating names and values.
   * @throws AppError TOO_MANY_REQUESTS.
   */
  admit(request: IncomingMessage, caller: Pick<Caller, "key" | "address">, headers: string[]): void;
  /** Counts input that is not a valid request as a read. Does not throw if the limit is exceeded: the input is rejected anyway. */
  countUnreadable(socket: Socket, headers: string[]): void;
}

const windowMs = 60_000;

/** A rate limit with its name and policy for the response headers (draft-ietf-httpapi-ratelimit-headers-10). */
interface NamedLimit {
  readonly limit: RateLimit;
  readonly name: string;
  readonly policy: string;
}

export function createAdmission(o: AdmissionOptions): Admission {
  const trusted = createNetworks(o.trustedProxies);
  const exempt = createNetworks(o.exempt);
  const reads = createNamedLimit("reads", o.readsPerMinute, o);
  const writes = createNamedLimit("writes", o.writesPerMinute, o);
  const isExempt = memoizeByAddress((address) => exempt.has(address));

  return {
    admit(request, { key, address }, headers) {
      const limit = limitOf(request.method, reads, writes);
      if (limit === undefined || isExempt(address)) return;
      const decision = limit.limit.count(key);
      addRateLimitHeaders(limit, decision, headers);
      if (!decision.isAdmitted) throw rateLimitExceeded(limit, decision);
    },
    countUnreadable(socket, headers) {
      const address = addressOf(socket);
      // Behind a trusted proxy, the client is unknown.
      if (reads === undefined || trusted.has(address) || isExempt(address)) return;
      addRateLimitHeaders(reads, reads.limit.count(toAddressKey(address)), headers);
    },
  };
}

function createNamedLimit(
  name: string,
  quota: number,
  { clientsMax, nowMs }: { readonly clientsMax: number; readonly nowMs: () => number },
): NamedLimit | undefined {
  if (quota === 0) return undefined;
  const limit = createRateLimit({ quota, windowMs, clientsMax, nowMs });
  return { limit, name, policy: `"${name}";q=${quota};w=${windowMs / 1_000}` };
}

function limitOf(
  method: string | undefined,
  reads: NamedLimit | undefined,
  writes: NamedLimit | undefined,
): NamedLimit | undefined {
  // OPTIONS uses no service, and a browser does not show its page why a preflight was rejected.
  if (method === "OPTIONS") return undefined;
  return method === "GET" || method === "HEAD" ? reads : writes;
}

/** `r`: requests that remain. `t`: seconds until the whole quota is available. */
function addRateLimitHeaders({ name, policy }: NamedLimit, { remaining, resetMs }: RateDecision, headers: string[]) {
  headers.push("RateLimit-Policy", policy, "RateLimit", `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`);
}

function rateLimitExceeded({ name }: NamedLimit, { retryMs }: RateDecision): AppError {
  const retryAfterSeconds = Math.max(Math.ceil(retryMs / 1_000), 1);
  const message = `The rate limit of ${name} is exceeded. Retry after ${retryAfterSeconds} s.`;
  return new AppError("TOO_MANY_REQUESTS", message, { retryAfterSeconds });
}

const addressesMax = 10_000;

function memoizeByAddress(compute: (address: string) => boolean): (address: string) => boolean {
  const results = createBoundedMap<boolean>({ entriesMax: addressesMax });
  return (address) => {
    const known = results.get(address);
    if (known !== undefined) return known;
    const result = compute(address);
    results.set(address, result);
    return result;
  };
}
