// Stage 1 of 5: admit, and stage 3: plan. Charges requests to the rate limits of their callers.
import type { Caller } from "@tributary/kit/caller/caller";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { type RateDecision, type RequestClass, retryAfterSecondsOf } from "@tributary/kit/rate-limit/rate-decision";
import { OperationTypeNode } from "graphql";
import { Rejection } from "../errors/rejections.ts";
import { type Statuses, statuses } from "../errors/statuses.ts";
import type { ChargedRequest, OperationCharges } from "../engine/execution.ts";
import type { GatewayExchange } from "./exchange.ts";

/** CPU time to read a result from the subgraphs, to write and to send it: 160 KB, a list of 4,900 objects, take 2 ms. */
const resultMsPerKb = 0.012;

/**
 * One unit is a millisecond of CPU time. An arrival weighs 1 unit of `requests`, which pays for parsing; an operation as many
 * units of reads, or of writes for a mutation, as its plan has fetches, at least 1. What documents and results take beyond that is debited
 * afterwards.
 */
export interface Charges extends OperationCharges {
  /** Charges 1 read to a separate limit before a token is verified; `chargeArrival` follows. @returns the reason to reject the request. */
  chargeVerification(exchange: GatewayExchange): Rejection | undefined;
  /** Before the class of the request is known. @returns the reason to reject the request. */
  chargeArrival(caller: Caller): Rejection | undefined;
  /** Each whole millisecond of `documentCpuMs` is 1 more unit of `requests`. */
  debitDocument(exchange: GatewayExchange): void;
  /**
   * Charges an operation. If it is rejected, the unit of its arrival is returned: a client that polls above its limit of reads can still write.
   * @throws Rejection RATE_LIMITED; OPERATION_TOO_EXPENSIVE if the operation weighs more than the whole quota, so that no retry can succeed.
   */
  chargeOperation(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number): void;
  /** Takes the units of a response of `bytes` that exceed the weight of its operation. Rejects nothing. */
  debitResult(charged: ChargedRequest, operationType: OperationTypeNode, fetchCount: number, bytes: number): void;
}

export function createCharges(limits: CallerLimits): Charges {
  function rateLimitRejection(requestClass: RequestClass, decision: RateDecision, ofCode: Statuses): Rejection {
    const retryAfterSeconds = retryAfterSecondsOf(decision);
    const message = `The rate limit of ${requestClass} is exceeded. Retry after ${retryAfterSeconds} s.`;
    const headers: Record<string, string> = { "Retry-After": String(retryAfterSeconds) };
    const rateLimitHeaders: string[] = [];
    limits.addHeaders(requestClass, decision, rateLimitHeaders);
    forEachHeader(rateLimitHeaders, (name, value) => {
      headers[name] = value;
    });
    return new Rejection("RATE_LIMITED", message, headers, { extensions: { retryAfterSeconds }, statuses: ofCode });
  }

  return {
    shareKeyOf: ({ caller }) => caller && limits.shareKeyOf(caller),
    chargeVerification({ request }) {
      const decision = limits.chargeVerification(request);
      if (decision === undefined || decision.isAdmitted) return undefined;
      return rateLimitRejection("reads", decision, statuses.rateLimitedUnread);
    },
    chargeArrival(caller) {
      const rejected = limits.admit(caller, "requests", 1);
      return rejected && rateLimitRejection("requests", rejected, statuses.rateLimitedUnread);
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
        throw rateLimitRejection(requestClass, rejected, statuses.rateLimited);
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
