// Stage 1 of 5: admit, and stage 3: plan. Charges requests to the rate limits of their callers. caller.ts charges on arrival, execute.ts after
// planning, and for what documents and results have taken.
import type { Caller } from "@tributary/kit/caller/caller";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { type RateDecision, type RequestClass, retryAfterSecondsOf } from "@tributary/kit/rate-limit/rate-decision";
import { OperationTypeNode } from "graphql";
import { Rejection } from "../errors/rejections.ts";
import type { ChargedRequest, OperationCharges } from "../execution.ts";
import type { GatewayExchange } from "./exchange.ts";

/**
 * CPU time of the main thread for each KB of a response: to read its data from the subgraphs, and to write and send it. Measured with a list of 4,900
 * objects of one subgraph: 160 KB take 2 ms.
 */
const resultMsPerKb = 0.012;

/**
 * One unit is a millisecond of CPU time of the main thread. The arrival of a request weighs 1 unit of `requests`, which pays for parsing. An operation
 * weighs as many units of reads or writes as its plan has fetches, at least 1, charged before the first fetch. What documents and results take
 * beyond that is debited afterwards. Mutations are writes, all other operations reads. Callers without a limit are never rejected.
 */
export interface Charges extends OperationCharges {
  /** Charges 1 read to a separate limit before a token is verified; `chargeArrival` follows. @returns the reason to reject the request. */
  chargeVerification(exchange: GatewayExchange): Rejection | undefined;
  /** Charges 1 unit of `requests` before the body is used, so before the class of the request is known. @returns the reason to reject the request. */
  chargeArrival(caller: Caller): Rejection | undefined;
  /** Takes 1 more unit of `requests` for each whole millisecond of `documentCpuMs`. Rejects nothing. */
  debitDocument(exchange: GatewayExchange): void;
  /**
   * Charges an operation. If it is rejected, the unit of its arrival is returned: a client that polls above its limit of reads can still write.
   * @throws Rejection RATE_LIMITED; OPERATION_TOO_EXPENSIVE if the operation weighs more than the whole quota, so that no retry can succeed.
   */
  chargeOperation(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number): void;
  /** Takes the units of a response of `bytes` that exceed the weight of its operation. Rejects nothing. */
  debitResult(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number, bytes: number): void;
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
    chargeArrival(caller) {
      const rejected = limits.admit(caller, "requests", 1);
      return rejected && rateLimitRejection("requests", rejected, true);
    },
    debitDocument({ caller, documentCpuMs }) {
      const units = Math.floor(documentCpuMs);
      if (caller !== undefined && units > 0) limits.debit(caller, "requests", units);
    },
    chargeOperation({ caller }, operationType, fetchCount) {
      if (caller === undefined) return;
      const requestClass = classOf(operationType);
      const weight = weightOf(fetchCount);
      const rejected = limits.admit(caller, requestClass, weight);
      if (rejected === undefined) return;
      const quota = limits.quotaOf(requestClass);
      if (weight <= quota) {
        limits.refund(caller, "requests", 1);
        throw rateLimitRejection(requestClass, rejected, false);
      }
      const message = `The operation weighs ${weight} units, one for each fetch, and the rate limit of ${requestClass} is ${quota}. Split it.`;
      throw new Rejection("OPERATION_TOO_EXPENSIVE", message, {}, { extensions: { weight, weightMax: quota } });
    },
    debitResult({ caller }, operationType, fetchCount, bytes) {
      const units = Math.floor((bytes / 1_024) * resultMsPerKb) - weightOf(fetchCount);
      if (caller !== undefined && units > 0) limits.debit(caller, classOf(operationType), units);
    },
  };
}

function classOf(operationType: OperationTypeNode): RequestClass {
  return operationType === OperationTypeNode.MUTATION ? "writes" : "reads";
}

function weightOf(fetchCount: number): number {
  return Math.max(fetchCount, 1);
}
