import type { IncomingMessage, ServerResponse } from "node:http";
import type { KnownValues } from "./metrics/known-values.ts";
import type { Gauge } from "./metrics/metrics.ts";
import type { Span, Trace } from "./tracing/trace.ts";

/** `RequestRecord` is what the server records about a request in flight. */
export interface RequestObserver<RequestRecord> {
  /** The observation ends when the response is closed. @param arrivedMs by `performance.now`. */
  begin(request: IncomingMessage, response: ServerResponse, requestId: string, arrivedMs?: number): RequestRecord;
  close(): void;
}

export interface FinishedRequest<RequestRecord> {
  readonly record: RequestRecord;
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** 499, as in nginx, if the client disconnected before the response was complete. */
  readonly status: number;
  readonly milliseconds: number;
}

export interface RequestObserverOptions<RequestRecord> {
  readonly trace: Trace;
  readonly methodOf: KnownValues;
  readonly createRecord: (span: Span | undefined, request: IncomingMessage, requestId: string) => RequestRecord;
  /** When the response is closed. Must end the span of the record. */
  readonly onFinished: (finished: FinishedRequest<RequestRecord>) => void;
  /** Of requests in flight. */
  readonly gauge: Pick<Gauge<never>, "onScrape">;
  readonly onClose: () => void;
}

/** As in nginx. */
export const clientGaveUpStatus = 499;

export function createRequestObserver<RequestRecord>(
  options: RequestObserverOptions<RequestRecord>,
): RequestObserver<RequestRecord> {
  const { trace, methodOf, createRecord, onFinished } = options;
  let inFlight = 0;
  options.gauge.onScrape((gauge) => gauge.set({}, inFlight));

  return {
    begin(request, response, requestId, arrivedMs = performance.now()) {
      const span = trace.isOn ? beginSpan(trace, request, methodOf, requestId) : undefined;
      const record = createRecord(span, request, requestId);
      inFlight++;
      // `once` would allocate three objects per request.
      response.on("close", () => {
        inFlight--;
        const status = response.writableFinished ? response.statusCode : clientGaveUpStatus;
        onFinished({ record, request, requestId, status, milliseconds: performance.now() - arrivedMs });
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

export function roundMilliseconds(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
