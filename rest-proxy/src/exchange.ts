import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { writeProblem } from "@tributary/kit/http/problem";
import { readRequestId } from "@tributary/kit/http/request-id";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/http/trace-context";
import { abandonBody, ClientGone } from "./body.ts";
import { createOwnHead, type OwnHead, setOwnHead } from "./own-head.ts";
import { isOpen, ServiceFailure } from "./problems.ts";
import { readTarget } from "./target.ts";
import type { About, Observe } from "./telemetry/observations.ts";
import type { RequestObserver } from "./telemetry/request-observer.ts";
import { RequestRecord } from "./telemetry/request-record.ts";

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The target as it was sent. */
  readonly url: string;
  readonly requestId: string;
  readonly own: OwnHead;
  readonly record: RequestRecord;
}

/** Of a request whose client left before its answer. */
const clientGone = 499;

/** Gives the request its id and its trace, which every response names, and reports the end of the response. */
export function openExchange(request: IncomingMessage, response: ServerResponse, watch?: RequestObserver): Exchange {
  const { method = "", url = "", headers } = request;
  const own = createOwnHead();
  const requestId = readRequestId(headers["x-request-id"]);
  const span = watch?.begin(request, requestId);
  const record = new RequestRecord(span, span?.traceParent ?? traceParentOf(headers));
  own.lines.push("X-Request-Id", requestId, "traceparent", record.traceParent, "X-Content-Type-Options", "nosniff");
  const exchange = { request, response, method, url, requestId, own, record };
  if (!watch) return exchange;
  const begin = performance.now();
  response.on("close", () => {
    const status = response.writableFinished ? response.statusCode : clientGone;
    watch.end({ record, request, status, requestId, milliseconds: performance.now() - begin });
  });
  return exchange;
}

/** The client's own; a new one if it sent none, or an invalid one. */
function traceParentOf({ traceparent }: IncomingHttpHeaders): string {
  return isTraceParent(traceparent) ? traceparent : createTraceParent(readTraceContext(undefined));
}

/** Whatever was thrown becomes a problem document. */
export function refuse(error: unknown, exchange: Exchange, observe: Observe): void {
  if (error instanceof ClientGone) return;
  const { request, response, requestId, url, own, record } = exchange;
  const known = error instanceof AppError;
  if (!known) observe({ kind: "bug", cause: error, ...aboutExchange(exchange) });
  if (!isOpen(response)) return void response.destroy();
  abandonBody(request, response);
  const reported = known ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
  record.code = reported.code;
  if (reported instanceof ServiceFailure) record.failedReplica = reported.replica;
  if (reported.code === "NOT_ACCEPTABLE") own.vary.push("Accept");
  setOwnHead(response, own);
  writeProblem(response, reported, { instance: instanceOf(url), requestId });
}

/** The path; but for one that begins with two slashes, which as a reference would name another host (RFC 3986, 4.2). */
function instanceOf(url: string): string | undefined {
  const path = readTarget(url)?.path;
  return path?.startsWith("//") ? undefined : path;
}

/** How long clients may take to read. */
export interface ReadingLimit {
  /** Call it once the whole response is written. */
  watch(exchange: Exchange): void;
}

/** Destroys a response that its client has not read within this time after it was written: until then it occupies memory. */
export function createReadingLimit(responseTimeoutMs: number, observe: Observe): ReadingLimit {
  return {
    watch(exchange) {
      const { response } = exchange;
      // The system has taken most responses by now.
      if (response.destroyed || response.writableLength === 0) return;
      const timer = setTimeout(() => {
        observe({ kind: "answer-cut", reason: "GATEWAY_TIMEOUT", ...aboutExchange(exchange) });
        response.destroy();
      }, responseTimeoutMs);
      response.once("close", () => clearTimeout(timer));
    },
  };
}

/** The request as observations and logs describe it. */
export function aboutExchange({ requestId, method, url, record }: Exchange): About {
  // Without the query, and of bounded length.
  const path = (url.split("?", 1)[0] ?? "").slice(0, 256);
  return { requestId, traceId: record.traceId, method, route: record.route?.path ?? "other", path };
}
