import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";

/** A request for the service. */
export interface PassageRequest {
  readonly method: string;
  /** Path and query at the service, beginning with `/`. */
  readonly target: string;
  /** Names and values in turn, end-to-end only. */
  readonly headers: readonly string[];
  /** One that can be read only once makes the request one that is sent only once. */
  readonly body: Buffer | Readable | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignalLike;
  /** The route takes an `Idempotency-Key` in this version: with one, a `POST` may be sent twice. */
  readonly takesIdempotencyKey?: boolean;
  /** Each attempt becomes a span below it, whose trace the service gets; undefined when the request is not traced. */
  readonly span?: Span | undefined;
}

/** The head of the answer, of whatever status, without what was for the service's connection or is not for clients. */
export interface PassageAnswer {
  readonly status: number;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  /**
   * All of a short answer. Or it comes at the reader's pace and has to be read or destroyed; it is destroyed with an error when the answer
   * breaks off, with an AppError GATEWAY_TIMEOUT when the time is over, and without one when `signal` was aborted.
   */
  readonly body: Buffer | Readable;
}

/**
 * Sends to the service.
 * @throws AppError BAD_GATEWAY, GATEWAY_TIMEOUT; SERVICE_UNAVAILABLE when too many requests are in flight, and nothing was sent; ClientGone when
 * `signal` was aborted.
 */
export type Ask = (request: PassageRequest) => Promise<PassageAnswer>;
