import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { AppError } from "@tributary/kit/errors/app-error";
import { addressOf, type Client, createClientFinder, toCaller } from "./clients.ts";
import { createNetworks } from "./networks.ts";
import { createRateLimit, type RateLimit, type RateVerdict } from "./rate-limit.ts";

/** How many requests are answered for one caller, and who the caller is. */
export interface AdmissionLimits {
  /** Of `GET` and `HEAD`; 0: as many as come. */
  readonly readsPerMinute: number;
  /** Of every other method but `OPTIONS`; 0: as many as come. */
  readonly writesPerMinute: number;
  /** Callers that are counted at once, for each of the two. */
  readonly callersMax: number;
  /** Networks whose requests are not counted. */
  readonly exempt: readonly string[];
  /** Networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
}

export interface Admission {
  findClient(request: IncomingMessage): Client;
  /**
   * Counts a request. What the caller may hear of its limit is pushed to `lines`, names and values in turn, refused or not.
   * @throws AppError TOO_MANY_REQUESTS.
   */
  admit(request: IncomingMessage, lines: string[]): void;
  /** Counts what could not be read as a read, and tells of it likewise; never throws, for its answer is a refusal already. */
  countUnreadable(socket: Socket, lines: string[]): void;
}

const windowMs = 60_000;

/** How one kind of request is counted, and spoken of (draft-ietf-httpapi-ratelimit-headers-10). */
interface Class {
  readonly limit: RateLimit;
  readonly name: string;
  readonly policy: string;
}

/** Who may come in, and how often: by caller, reads and writes apart, so that a page that polls cannot keep its user from saving. */
export function createAdmission(o: AdmissionLimits & { readonly nowMs: () => number }): Admission {
  const trusted = createNetworks(o.trustedProxies);
  const exempt = createNetworks(o.exempt);
  const findClient = createClientFinder(trusted);
  const reads = createClass("reads", o.readsPerMinute, o);
  const writes = createClass("writes", o.writesPerMinute, o);
  const callers = createCallers((address) => (exempt.has(address) ? undefined : toCaller(address)));

  return {
    findClient,
    admit(request, lines) {
      const counted = classOf(request.method, reads, writes);
      if (counted === undefined) return;
      const caller = callers(findClient(request).address);
      if (caller === undefined) return;
      const verdict = counted.limit.take(caller);
      tell(counted, verdict, lines);
      if (!verdict.isAdmitted) throw tooMany(counted, verdict);
    },
    countUnreadable(socket, lines) {
      const address = addressOf(socket);
      // Behind a balancer it is not known whose it was.
      const caller = trusted.has(address) ? undefined : callers(address);
      if (reads && caller !== undefined) tell(reads, reads.limit.take(caller), lines);
    },
  };
}

function createClass(
  name: string,
  quota: number,
  { callersMax, nowMs }: { readonly callersMax: number; readonly nowMs: () => number },
): Class | undefined {
  if (quota === 0) return undefined;
  const limit = createRateLimit({ quota, windowMs, callersMax, nowMs });
  return { limit, name, policy: `"${name}";q=${quota};w=${windowMs / 1_000}` };
}

function classOf(method: string | undefined, reads: Class | undefined, writes: Class | undefined): Class | undefined {
  // Asks nothing of anybody, and a browser that is refused its preflight does not say why.
  if (method === "OPTIONS") return undefined;
  return method === "GET" || method === "HEAD" ? reads : writes;
}

/** Of each class: how many requests are left, and the seconds until all are there again. */
function tell({ name, policy }: Class, { remaining, resetMs }: RateVerdict, lines: string[]): void {
  lines.push("RateLimit-Policy", policy, "RateLimit", `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`);
}

function tooMany({ name }: Class, { retryMs }: RateVerdict): AppError {
  const seconds = Math.max(Math.ceil(retryMs / 1_000), 1);
  return new AppError("TOO_MANY_REQUESTS", `These are more ${name} than are answered for one caller.`, {
    retryAfterSeconds: seconds,
  });
}

/** Addresses whose names are remembered. */
const knownMax = 10_000;

/** Remembers what was found out of an address; null stands for nothing. */
function createCallers(find: (address: string) => string | undefined): (address: string) => string | undefined {
  const known = createBoundedMap<string | null>({ entriesMax: knownMax });
  return (address) => {
    const found = known.get(address);
    if (found !== undefined) return found ?? undefined;
    const caller = find(address);
    known.set(address, caller ?? null);
    return caller;
  };
}
