// Stage 1 of 5: admit. The exchange: one client request and its response, with the ids and headers that every response has. server.ts creates one for
// each request, before the fast path.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "@tributary/kit/caller/caller";
import type { Cors } from "@tributary/kit/http/cors";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import { readRequestId } from "@tributary/kit/http/request-id";
import { createTraceParent, readUnsampledTrace, type TraceContext } from "@tributary/kit/http/trace-context";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { GraphqlRequestRecord } from "../telemetry/request-record.ts";
import type { RequestCpu } from "../document-cpu.ts";

export interface GatewayExchange extends RequestCpu {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly trace: TraceContext;
  /** When the request arrived, by the process's monotonic clock (`performance.now`). */
  readonly startedMs: number;
  /** Headers of every response, also of a rejection, as a raw list: name, value, name, value. */
  readonly headers: readonly string[];
  /** Who sent the request. Undefined until identified (admit/caller.ts), and for requests to other paths than /graphql. */
  caller: Caller | undefined;
  /** Undefined if metrics, traces and the access log are off. */
  readonly record: GraphqlRequestRecord | undefined;
}

/**
 * Creates the exchange of each request, and starts its telemetry record. The request id and the trace are sent to the client in response headers,
 * and to subgraphs in request headers.
 */
export function createExchangeFactory(
  cors: Cors,
  observer?: RequestObserver<GraphqlRequestRecord>,
): (request: IncomingMessage, response: ServerResponse) => GatewayExchange {
  const vary = cors.varies ? "Origin, Accept, Accept-Encoding" : "Accept, Accept-Encoding";
  return (request, response) => {
    const { headers } = request;
    const requestId = readRequestId(headers["x-request-id"]);
    const record = observer?.begin(request, response, requestId);
    // A request has a span only if it is sampled: flags 01.
    const trace = record?.span
      ? { traceId: record.span.traceId, flags: "01" }
      : readUnsampledTrace(headers["traceparent"]);
    if (record) record.traceId = trace.traceId;
    const traceParent = record?.span?.traceParent ?? createTraceParent(trace);
    const gatewayHeaders = ["X-Request-Id", requestId, "traceparent", traceParent, "Vary", vary];
    const startedMs = performance.now();
    const allHeaders = gatewayHeaders.concat(cors.headersFor(headers.origin));
    return {
      request,
      response,
      requestId,
      trace,
      startedMs,
      headers: allHeaders,
      caller: undefined,
      documentCpuMs: 0,
      resultCpuMs: 0,
      record,
    };
  };
}

/** Sets `headers` on a response that Express sends. For all other responses, paths/send-response.ts writes them. */
export function applyHeaders({ response, headers }: GatewayExchange): void {
  forEachHeader(headers, (name, value) => void response.setHeader(name, value));
}
