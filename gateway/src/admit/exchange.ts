// Stage 1 of 5: may you come in? One request and its answer to be, introduced once, before a lane is chosen.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cors } from "@tributary/kit/http/cors";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import { readRequestId } from "@tributary/kit/http/request-id";
import { createTraceParent, readTraceContext, type TraceContext } from "@tributary/kit/http/trace-context";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { RequestRecord } from "../telemetry/request-record.ts";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly trace: TraceContext;
  /** By the process's monotonic clock. */
  readonly startedMs: number;
  /** What every answer bears, refusals too: names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined where nobody watches. */
  readonly record: RequestRecord | undefined;
}

/** Names the request for everybody: its id and its trace are in the answer's headers, and in what subgraphs get. */
export function createIntroduction(
  cors: Cors,
  watch?: RequestObserver<RequestRecord>,
): (request: IncomingMessage, response: ServerResponse) => Exchange {
  const vary = cors.varies ? "Origin, Accept, Accept-Encoding" : "Accept, Accept-Encoding";
  return (request, response) => {
    const { headers } = request;
    const requestId = readRequestId(headers["x-request-id"]);
    const record = watch?.begin(request, response, requestId);
    const trace = record?.span
      ? { traceId: record.span.traceId, flags: "01" }
      : readTraceContext(headers["traceparent"]);
    if (record) record.traceId = trace.traceId;
    const traceParent = record?.span?.traceParent ?? createTraceParent(trace);
    const own = ["X-Request-Id", requestId, "traceparent", traceParent, "Vary", vary];
    const startedMs = performance.now();
    const all = own.concat(cors.headersFor(headers.origin));
    return { request, response, requestId, trace, startedMs, headers: all, record };
  };
}

/** For answers that others write: pages and files. */
export function setHeaders({ response, headers }: Exchange): void {
  forEachHeader(headers, (name, value) => void response.setHeader(name, value));
}
