// Stage 1 of 5: admit, and stage 3: plan. Charges requests to the rate limits of their callers. caller.ts charges on arrival, pipeline.ts after
// planning and for rejected documents.
import type { Caller } from "@tributary/kit/caller/caller";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { type RateDecision, type RequestClass, retryAfterSecondsOf } from "@tributary/kit/rate-limit/rate-decision";
import { OperationTypeNode } from "graphql";
import { Rejection } from "../errors/rejections.ts";
import type { GatewayExchange } from "./exchange.ts";

/**
 * An operation weighs as many units as its plan has fetches, at least 1. One unit is charged on arrival, the others before the first fetch.
 * Mutations are writes, all other requests reads. Callers without a limit are never rejected.
 */
export interface Charges {
  /** Charges 1 read to a separate limit before a token is verified; `chargeArrival` follows. @returns the reason to reject the request. */
  chargeVerification(exchange: GatewayExchange): Rejection | undefined;
  /**
   * Charges 1 unit before the body is used, so before the class of the request is known: 1 read, or 1 write if the reads are used up, so that
   * reads do not block the caller's mutations. @returns the reason to reject the request.
   */
  chargeArrival(exchange: GatewayExchange, caller: Caller): Rejection | undefined;
  /** Charges 1 more unit for each whole millisecond of CPU time that the check of a rejected document took. Rejects nothing. */
  debitDocument(exchange: GatewayExchange, cpuMs: number): void;
  /**
   * Charges the rest of an operation. If a mutation was charged a read on arrival, this read remains charged in addition.
   * @throws Rejection RATE_LIMITED; OPERATION_TOO_EXPENSIVE if the operation weighs more than the whole quota, so that no retry can succeed.
   */
  chargeOperation(exchange: GatewayExchange, operationType: OperationTypeNode, fetchCount: number): void;
}

/** @param limits returns no decision for a caller without a limit. */
export function createCharges(limits: CallerLimits): Charges {
  function rateLimitRejection(requestClass: RequestClass, decision: RateDecision, isBodyUnused: boolean): Rejection {
    const retryAfterSeconds = retryAfterSecondsOf(decision);
    const message = `The rate limit of ${requestClass} is exceeded. Retry after ${retryAfterSeconds} s.`;
    const headers: Record<string, string> = { "Retry-After": String(retryAfterSeconds) };
    const rateLimitHeaders: string[] = [];
    limits.addHeaders(requestClass, decision, rateLimitHeaders);
    forEachHeader(rateLimitHeaders, (name, value) => {
      headers[name] = value;
    });
    return new Rejection("RATE_LIMITED", message, headers, { extensions: { retryAfterSeconds }, isBodyUnused });
  }

  return {
    chargeVerification({ request }) {
      const decision = limits.chargeVerification(request);
      if (decision === undefined || decision.isAdmitted) return undefined;
      return rateLimitRejection("reads", decision, true);
    },
    chargeArrival(exchange, caller) {
      const reads = limits.charge(caller, "reads", 1);
      if (reads === undefined || reads.isAdmitted) return undefined;
      // A GET cannot be a mutation, so it is rejected like a POST whose writes are used up.
      const writes = exchange.request.method === "POST" ? limits.charge(caller, "writes", 1) : reads;
      if (writes !== undefined && !writes.isAdmitted) return rateLimitRejection("reads", reads, true);
      exchange.arrivalClass = "writes";
      return undefined;
    },
    debitDocument({ caller, arrivalClass }, cpuMs) {
      const units = Math.floor(cpuMs);
      if (caller !== undefined && units > 0) limits.debit(caller, arrivalClass, units);
    },
    chargeOperation({ caller, arrivalClass }, operationType, fetchCount) {
      const requestClass = operationType === OperationTypeNode.MUTATION ? "writes" : "reads";
      const weight = Math.max(fetchCount, 1);
      const chargedUnits = requestClass === arrivalClass ? 1 : 0;
      const remainingUnits = weight - chargedUnits;
      if (caller === undefined || remainingUnits === 0) return;
      const decision = limits.charge(caller, requestClass, remainingUnits);
      if (decision === undefined || decision.isAdmitted) return;
      const quota = limits.quotaOf(requestClass);
      if (weight <= quota) throw rateLimitRejection(requestClass, decision, false);
      const message = `The operation weighs ${weight} units, one for each fetch, and the rate limit of ${requestClass} is ${quota}. Split it.`;
      throw new Rejection("OPERATION_TOO_EXPENSIVE", message, {}, { extensions: { weight, weightMax: quota } });
    },
  };
}
