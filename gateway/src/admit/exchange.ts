// Stage 1 of 5: may you come in? One request and its answer to be, introduced once, before a lane is chosen.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cors } from "@tributary/kit/cors";
import { readRequestId } from "@tributary/kit/request-id";
import { createTraceParent, readTraceContext, type TraceContext } from "@tributary/kit/trace-context";

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly trace: TraceContext;
  /** By the process's monotonic clock. */
  readonly startedMs: number;
  /** What every answer bears, refusals too: names and values in turn. */
  readonly headers: readonly string[];
}

/** Names the request for everybody: its id and its trace are in the answer's headers, and in what subgraphs get. */
export function createIntroduction(cors: Cors): (request: IncomingMessage, response: ServerResponse) => Exchange {
  const vary = cors.varies ? "Origin, Accept, Accept-Encoding" : "Accept, Accept-Encoding";
  return (request, response) => {
    const { headers } = request;
    const requestId = readRequestId(headers["x-request-id"]);
    const trace = readTraceContext(headers["traceparent"]);
    const own = ["X-Request-Id", requestId, "traceparent", createTraceParent(trace), "Vary", vary];
    const startedMs = performance.now();
    return { request, response, requestId, trace, startedMs, headers: own.concat(cors.headersFor(headers.origin)) };
  };
}

/** For answers that others write: pages and files. */
export function setHeaders({ response, headers }: Exchange): void {
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] ?? "", headers[i + 1] ?? "");
}
