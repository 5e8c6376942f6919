import type { IncomingMessage, ServerResponse } from "node:http";
import type { KnownValues } from "./metrics/known-values.ts";
import type { Span, Trace } from "./tracing/trace.ts";

/**
 * Observes the requests of one server, for the three kinds of processes: the gateway, the REST proxy and the services. `RequestRecord` is what the
 * server records about a request while it is in flight; `onFinished` counts, traces and logs the request.
 */
export interface RequestObserver<RequestRecord> {
  /** Starts the observation of a request, and its span if it is traced. The observation ends when the response is closed. */
  begin(request: IncomingMessage, response: ServerResponse, requestId: string): RequestRecord;
  /** Logs the counts of the access log that are not logged yet. Called when the process stops. */
  close(): void;
}

export interface FinishedRequest<RequestRecord> {
  readonly record: RequestRecord;
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** The status of the response; 499, as in nginx, if the client disconnected before it was complete. */
  readonly status: number;
  readonly milliseconds: number;
}

export interface RequestObserverOptions<RequestRecord> {
  readonly trace: Trace;
  /** The label of a request method. */
  readonly methodOf: KnownValues;
  /** @param span undefined if the request is not traced. */
  readonly createRecord: (span: Span | undefined, request: IncomingMessage, requestId: string) => RequestRecord;
  /** Called when the response is closed. Must end the span of the record. */
  readonly onFinished: (finished: FinishedRequest<RequestRecord>) => void;
  /** Called once, at creation, with the function that a gauge of the requests in flight reads at each scrape. */
  readonly onScrape: (readInFlight: () => number) => void;
  /** Called when the process stops. */
  readonly onClose: () => void;
}

const clientDisconnectedStatus = 499;

export function createRequestObserver<RequestRecord>(
  options: RequestObserverOptions<RequestRecord>,
): RequestObserver<RequestRecord> {
  const { trace, methodOf, createRecord, onFinished } = options;
  let inFlight = 0;
  options.onScrape(() => inFlight);

  return {
    begin(request, response, requestId) {
      const startedMs = performance.now();
      const span = trace.isOn ? beginSpan(trace, request, methodOf, requestId) : undefined;
      const record = createRecord(span, request, requestId);
      inFlight++;
      // The event occurs once. `once` would allocate three objects per request.
      response.on("close", () => {
        inFlight--;
        const status = response.writableFinished ? response.statusCode : clientDisconnectedStatus;
        onFinished({ record, request, requestId, status, milliseconds: performance.now() - startedMs });
      });
      return record;
    },
    close: options.onClose,
  };
}

function beginSpan(trace: Trace, { method, headers }: IncomingMessage, methodOf: KnownValues, requestId: string) {
  const attributes = { "http.request.method": methodOf(method), "tributary.request_id": requestId };
  return trace.begin("request", headers["traceparent"], { kind: "server", attributes });
}

/** The duration as the access log has it, with one decimal. */
export function roundMilliseconds(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
