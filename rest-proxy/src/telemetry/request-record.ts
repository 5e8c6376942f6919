/** What the stages record of one request. `request-observer.ts` reads it when the response has ended. */
import type { IncomingHttpHeaders } from "node:http";
import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { ClientProgram } from "@tributary/kit/caller/client-program";
import {
  clearSampledFlag,
  createTraceParent,
  isTraceParent,
  readUnsampledTrace,
} from "@tributary/kit/http/trace-context";
import { deadlineHeader, readClientDeadline, toServiceDeadline } from "@tributary/kit/http/deadline";
import { clientGaveUpStatus, type FinishedRequest } from "@tributary/kit/telemetry/request-observer";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";

export interface RecordedRoute {
  /** Also for a HEAD request: GET. */
  readonly method: string;
  readonly path: string;
  readonly service: string;
}

export class RequestRecord {
  route: RecordedRoute | undefined = undefined;
  version: number | undefined = undefined;
  /** Undefined until the caller is identified. The client chooses its name: map the name by `KnownValues` before it becomes a label. */
  client: ClientProgram | undefined = undefined;
  /** The error code, if the proxy itself wrote the error response. */
  code: string | undefined = undefined;
  /** By admission, which counts it: no line of the access log, since a rejection has to cost little. */
  isRejectedByAdmission = false;
  /** The service broke off its response after the head was sent. */
  truncatedBy: ErrorCode | undefined = undefined;
  /** The last replica that the request was sent to, by URL and address, if the service did not respond. */
  failedReplica: string | undefined = undefined;
  readonly span: Span | undefined;
  /** The `traceparent` of the response and, if the request is not traced, of the request to the service. */
  readonly traceParent: string;

  constructor(span: Span | undefined, traceParent: string) {
    this.span = span;
    this.traceParent = traceParent;
  }

  /** The trace id: the 32 digits after `00-` in `traceParent`. Log lines of other processes have the same. */
  get traceId(): string {
    return this.traceParent.slice(3, 35);
  }
}

export type FinishedProxyRequest = FinishedRequest<RequestRecord>;

/**
 * That of the failure, if the service truncated the response: the client did not disconnect. 499 if it failed at the client's own deadline, which may be
 * shorter than what a working service takes; a service then fails a little earlier than the proxy (kit/src/http/deadline.ts).
 */
export function statusOfFinished({
  status,
  request,
  milliseconds,
  record: { truncatedBy },
}: FinishedProxyRequest): number {
  const finished = truncatedBy === undefined ? status : statusOf[truncatedBy];
  const isLate =
    finished >= 500 && milliseconds >= toServiceDeadline(readClientDeadline(request.headers[deadlineHeader], 0));
  return isLate ? clientGaveUpStatus : finished;
}

/** @param span undefined if the request is not traced: its `traceparent` is then the client's without the sampled flag, or a new one. */
export function createRequestRecord(span: Span | undefined, { traceparent }: IncomingHttpHeaders): RequestRecord {
  const incoming = isTraceParent(traceparent) ? clearSampledFlag(traceparent) : undefined;
  return new RequestRecord(span, span?.traceParent ?? incoming ?? createTraceParent(readUnsampledTrace(undefined)));
}

/** Sets the result in `Cache-Status` (RFC 9211), `hit` or `fwd=` with the reason, on the span. */
export function recordCacheStatus({ span }: RequestRecord, headers: readonly string[]): void {
  if (span === undefined) return;
  const at = headers.lastIndexOf("Cache-Status");
  // The second part of a value such as `tributary; hit; ttl=5`.
  const result = at === -1 ? undefined : headers[at + 1]?.split("; ")[1];
  if (result !== undefined) span.set("tributary.cache", result);
}
