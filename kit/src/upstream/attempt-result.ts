// What the result of one attempt means for a retry, for the replica's health and for the client. Called by `upstream.ts` after each attempt.
import { Readable } from "node:stream";
import type { AttemptOutcome } from "./replica-health.ts";
import type { RetryReason } from "./replica-set.ts";
import type { ResponseBody, TransportResponse, TransportResult } from "./transport.ts";

/** Bad gateway, service unavailable, gateway timeout (RFC 9110, section 15.6): another replica may respond better. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
/**
 * An attempt that ends without a response after this time is a `timeout` for the replica's health. After less it is a `failure`, which counts less,
 * since the caller may have set a short deadline. Below `attemptTimeoutMinMs` of attempt-timer.ts, 500 ms, since timers may run a little
 * early.
 */
const timeoutMinMs = 450;
const closeOption = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** Why another attempt may succeed. Undefined for a result that is final: a response, the end of the request, or a body that is too large. */
export function toRetryReason(result: TransportResult<ResponseBody>): RetryReason | undefined {
  if (result.kind === "response") return isUnavailable(result) ? "status" : undefined;
  switch (result.reason) {
    case "refused":
    case "reset":
      return result.reason;
    case "attempt-timeout":
      return "timeout";
    case "timeout":
    case "aborted":
    case "too-large":
      return undefined;
  }
}

/**
 * What a result means for the replica's health. A timeout counts too, since a frozen replica accepts connections and never responds. Overload of
 * all replicas ejects none, since a replica is ejected only while another is healthy; a replica that alone is overloaded recovers in its pause.
 * @param elapsedMs since the attempt started.
 */
export function toOutcome(result: TransportResult<ResponseBody>, elapsedMs: number): AttemptOutcome {
  if (result.kind === "response") {
    if (isUnavailable(result)) return "failure";
    return hasCloseOption(result.headers["connection"]) ? "draining" : "success";
  }
  const { reason } = result;
  if (reason === "aborted" || reason === "too-large") return "inconclusive";
  // A broken connection is no timeout, however late.
  if (reason === "reset") return "failure";
  return elapsedMs >= timeoutMinMs ? "timeout" : "failure";
}

/** @param result a failure, or a response with an unavailable status. */
export function toCause(result: TransportResult<ResponseBody>): unknown {
  return result.kind === "failed" ? result.cause : new Error(`The replica responded with status ${result.status}`);
}

/**
 * Replaces a response that cannot be forwarded by a failure: a status outside 200 to 599 (parsers accept any three digits; RFC 9110, section 15),
 * or a streamed body that broke before it had a reader.
 */
export function rejectInvalid<Body extends ResponseBody>(result: TransportResult<Body>): TransportResult<Body> {
  if (result.kind === "failed") return result;
  const { status, body } = result;
  if (body instanceof Readable && body.destroyed) return { kind: "failed", reason: "reset", cause: body.errored };
  const isFinalStatus = status >= 200 && status <= 599;
  if (isFinalStatus) return result;
  if (body instanceof Readable) body.destroy();
  const cause = new Error(`The replica responded with status ${status}`);
  // The name of undici's errors for a response that is not HTTP.
  return { kind: "failed", reason: "reset", cause: Object.assign(cause, { name: "HTTPParserError" }) };
}

/** A replica that sends `Retry-After` works, and expects that all replicas would respond the same (RFC 9110, section 10.2.3). */
function isUnavailable({ status, headers }: TransportResponse<ResponseBody>): boolean {
  return unavailableStatuses.has(status) && headers["retry-after"] === undefined;
}

/** Whether `Connection` contains the option `close` (RFC 9110, section 7.6.1): options are case-insensitive. */
export function hasCloseOption(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined || connection === "keep-alive") return false;
  return closeOption.test(String(connection));
}
