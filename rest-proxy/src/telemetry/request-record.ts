import type { IncomingHttpHeaders } from "node:http";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/http/trace-context";
import type { FinishedRequest } from "@tributary/kit/telemetry/request-observer";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";

export interface RecordedRoute {
  /** The path template, such as `/things/:id`. */
  readonly path: string;
  readonly service: string;
}

/** What becomes known of a request on its way, in words of ours: for what is counted, traced and logged. */
export class RequestRecord {
  route: RecordedRoute | undefined = undefined;
  version: number | undefined = undefined;
  /** Of the proxy's own refusal. */
  code: string | undefined = undefined;
  /** The last replica that the request was sent to without a response, by URL and address. */
  failedReplica: string | undefined = undefined;
  /** Undefined if the request is not recorded. */
  readonly span: Span | undefined;
  /** In the response and, if the request is not recorded, in the request to the service. */
  readonly traceParent: string;

  constructor(span: Span | undefined, traceParent: string) {
    this.span = span;
    this.traceParent = traceParent;
  }

  /** Log lines of other processes have the same. */
  get traceId(): string {
    return this.traceParent.slice(3, 35);
  }
}

export type FinishedProxyRequest = FinishedRequest<RequestRecord>;

/** Every response names its trace: the span's, else the client's, else a new one. */
export function createRequestRecord(span: Span | undefined, { traceparent }: IncomingHttpHeaders): RequestRecord {
  const incoming = isTraceParent(traceparent) ? traceparent : undefined;
  return new RequestRecord(span, span?.traceParent ?? incoming ?? createTraceParent(readTraceContext(undefined)));
}

/** What the head of an answer says of the cache: `hit`, or `fwd=` and why (RFC 9211); for a request that is traced. */
export function recordCacheStatus({ span }: RequestRecord, headers: readonly string[]): void {
  if (span === undefined) return;
  const at = headers.lastIndexOf("Cache-Status");
  const result = at === -1 ? undefined : headers[at + 1]?.split("; ")[1];
  if (result !== undefined) span.set("tributary.cache", result);
}
