// Stage 1 of 5: admit. One client request and its response, with the ids and headers that every response has.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "@tributary/kit/caller/caller";
import { deadlineHeader, readClientDeadline } from "@tributary/kit/http/deadline";
import { forEachHeader } from "@tributary/kit/http/raw-headers";
import { readRequestId } from "@tributary/kit/http/request-id";
import { createTraceParent, readUnsampledTrace, type TraceContext } from "@tributary/kit/http/trace-context";
import type { RequestObserver } from "@tributary/kit/telemetry/request-observer";
import type { Settings } from "../settings.ts";
import type { GraphqlRequestRecord } from "../telemetry/request-record.ts";
import type { RequestCpu } from "../document-cpu.ts";

export interface GatewayExchange extends RequestCpu {
  /** Those of its arrival. */
  readonly settings: Settings;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly trace: TraceContext;
  /** By `performance.now`. */
  readonly startedMs: number;
  /** When the client stops waiting. Infinity if it does not say so. */
  readonly endsAtMs: number;
  /** The request id and the trace, as a raw list: for all responses that shared caches must not store. */
  readonly ids: readonly string[];
  /** Of every response, also of a rejection, as a raw list. */
  readonly headers: readonly string[];
  /** Undefined until identified, and for requests to other paths than /graphql. */
  caller: Caller | undefined;
  /** Undefined if metrics, traces and the access log are off. */
  readonly record: GraphqlRequestRecord | undefined;
}

/** The request id and the trace are sent to the client in response headers, and to subgraphs in request headers. */
export function createExchangeFactory(
  settingsInUse: () => Settings,
  observer?: RequestObserver<GraphqlRequestRecord>,
): (request: IncomingMessage, response: ServerResponse) => GatewayExchange {
  return (request, response) => {
    const startedMs = performance.now();
    const { headers } = request;
    const settings = settingsInUse();
    const { cors } = settings;
    const vary = cors.varies ? "Origin, Accept, Accept-Encoding" : "Accept, Accept-Encoding";
    const requestId = readRequestId(headers["x-request-id"]);
    const record = observer?.begin(request, response, requestId, startedMs);
    // Only a sampled request has a span.
    const trace = record?.span
      ? { traceId: record.span.traceId, flags: "01" }
      : readUnsampledTrace(headers["traceparent"]);
    if (record) record.traceId = trace.traceId;
    const traceParent = record?.span?.traceParent ?? createTraceParent(trace);
    return {
      settings,
      request,
      response,
      requestId,
      trace,
      startedMs,
      endsAtMs: readClientDeadline(headers[deadlineHeader], startedMs),
      ids: ["X-Request-Id", requestId, "traceparent", traceParent],
      headers: ["Vary", vary].concat(cors.headersFor(headers.origin)),
      caller: undefined,
      documentCpuMs: 0,
      resultCpuMs: 0,
      record,
    };
  };
}

/** For responses of Express: preflights and GraphiQL. paths/send-response.ts writes the headers of all others. */
export function applyHeaders({ response, headers }: GatewayExchange): void {
  forEachHeader(headers, (name, value) => void response.setHeader(name, value));
}
