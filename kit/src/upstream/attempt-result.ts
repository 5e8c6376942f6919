import { Readable } from "node:stream";
import type { AttemptOutcome } from "./replica-health.ts";
import type { RetryReason } from "./replica-set.ts";
import type { ResponseBody, TransportResponse, TransportResult } from "./transport.ts";

/** RFC 9110, section 15.6: another replica may respond better. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
/** After less time, no response is a `failure`, which counts less, since the caller may have set a short deadline. Below `attemptTimeoutMinMs`. */
const timeoutMinMs = 450;
const closeOption = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

export function toRetryReason(result: TransportResult<ResponseBody>): RetryReason | undefined {
  if (result.kind === "response") return isUnavailable(result) ? "status" : undefined;
  switch (result.reason) {
    case "refused":
    case "reset":
      return result.reason;
    case "attempt-timeout":
      return "timeout";
    case "timeout":
    case "breaker-open":
    case "aborted":
    case "too-large":
      return undefined;
  }
}

/** A timeout counts too, since a frozen replica accepts connections and never responds. Overload of all replicas ejects none. */
export function toOutcome(result: TransportResult<ResponseBody>, elapsedMs: number): AttemptOutcome {
  if (result.kind === "response") {
    if (isUnavailable(result)) return "failure";
    return hasCloseOption(result.headers["connection"]) ? "draining" : "success";
  }
  const { reason } = result;
  if (reason === "aborted" || reason === "too-large") return "inconclusive";
  if (reason === "reset") return "failure";
  return elapsedMs >= timeoutMinMs ? "timeout" : "failure";
}

export function toCause(result: TransportResult<ResponseBody>): unknown {
  return result.kind === "failed" ? result.cause : new Error(`The replica responded with status ${result.status}`);
}

/** A status outside 200 to 599 (RFC 9110, section 15), or a streamed body that broke before it had a reader. */
export function rejectInvalid<Body extends ResponseBody>(result: TransportResult<Body>): TransportResult<Body> {
  if (result.kind === "failed") return result;
  const { status, body } = result;
  if (body instanceof Readable && body.destroyed) return { kind: "failed", reason: "reset", cause: body.errored };
  const isFinalStatus = status >= 200 && status <= 599;
  if (isFinalStatus) return result;
  if (body instanceof Readable) body.destroy();
  const cause = new Error(`The replica responded with status ${status}`);
  // As undici names errors for a response that is not HTTP.
  return { kind: "failed", reason: "reset", cause: Object.assign(cause, { name: "HTTPParserError" }) };
}

/** A replica with `Retry-After` works, and expects that all replicas would respond the same (RFC 9110, section 10.2.3). */
function isUnavailable({ status, headers }: TransportResponse<ResponseBody>): boolean {
  return unavailableStatuses.has(status) && headers["retry-after"] === undefined;
}

/** RFC 9110, section 7.6.1: options are case-insensitive. */
export function hasCloseOption(connection: string | readonly string[] | undefined): boolean {
  if (connection === undefined || connection === "keep-alive") return false;
  return closeOption.test(String(connection));
}
