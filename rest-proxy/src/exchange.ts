import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "@tributary/kit/errors";
import { writeProblem } from "@tributary/kit/problem";
import { readRequestId } from "@tributary/kit/request-id";
import type { Span } from "@tributary/kit/telemetry/trace";
import { abandonBody, ClientGone } from "./body.ts";
import type { Route } from "./routes.ts";
import { createOwnHead, type OwnHead, setOwnHead } from "./own-head.ts";
import { isOpen, ServiceFailure } from "./problems.ts";
import { readTarget } from "./target.ts";
import type { About, Observe } from "./telemetry/observations.ts";
import type { RequestObserver } from "./telemetry/request-observer.ts";
import { RequestRecord } from "./telemetry/request-record.ts";
import { traceIdOf } from "./trace-parent.ts";

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

/** Names the request, and tells when its answer is over. */
export function openExchange(request: IncomingMessage, response: ServerResponse, watch?: RequestObserver): Exchange {
  const { method = "", url = "", headers } = request;
  const { own, requestId } = openOwnHead(headers);
  const record = new RequestRecord(watch?.begin(request, requestId));
  const exchange = { request, response, method, url, requestId, own, record };
  if (!watch) return exchange;
  const begin = performance.now();
  response.on("close", () => {
    const status = response.writableFinished ? response.statusCode : clientGone;
    watch.end({ record, request, status, requestId, milliseconds: performance.now() - begin });
  });
  return exchange;
}

/** The request's name, and a head that says it. */
export function openOwnHead(headers: IncomingHttpHeaders): { readonly own: OwnHead; readonly requestId: string } {
  const own = createOwnHead();
  const requestId = readRequestId(headers["x-request-id"]);
  own.lines.push("X-Request-Id", requestId, "X-Content-Type-Options", "nosniff");
  return { own, requestId };
}

/** Whatever was thrown becomes a problem document. */
export function refuse(error: unknown, exchange: Exchange, observe: Observe): void {
  if (error instanceof ClientGone) return;
  const { request, response, requestId, url, own, record } = exchange;
  const known = error instanceof AppError;
  if (!known) observe({ kind: "bug", cause: error, ...aboutExchange(exchange) });
  if (!isOpen(response)) return void response.destroy();
  abandonBody(request, response);
  const told = known ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
  record.code = told.code;
  if (told instanceof ServiceFailure) record.failedReplica = told.replica;
  if (told.code === "NOT_ACCEPTABLE") own.vary.push("Accept");
  setOwnHead(response, own);
  writeProblem(response, told, { instance: instanceOf(url), requestId });
}

/** The path; but for one that begins with two slashes, which as a reference would name another host (RFC 3986, 4.2). */
function instanceOf(url: string): string | undefined {
  const path = readTarget(url)?.path;
  return path?.startsWith("//") ? undefined : path;
}

/** How long clients may take to read. */
export interface ReadingLimit {
  /** For an answer of which all is written. */
  watch(exchange: Exchange): void;
  /** For one that Node's server knows nothing of. @param left resolves when it is out, or nobody reads it any more. */
  watchSocket(socket: Socket, left: Promise<void>, about: About): void;
}

/**
 * A client that has not read its answer so long after all of it was written is cut: what it leaves lying here is memory.
 */
export function createReadingLimit(responseTimeoutMs: number, observe: Observe): ReadingLimit {
  function start(answer: { destroy(): unknown }, describe: () => About): NodeJS.Timeout {
    return setTimeout(() => {
      observe({ kind: "answer-cut", reason: "GATEWAY_TIMEOUT", ...describe() });
      answer.destroy();
    }, responseTimeoutMs);
  }

  return {
    watch(exchange) {
      const { response } = exchange;
      // Most answers are with the system by now.
      if (response.destroyed || response.writableLength === 0) return;
      const timer = start(response, () => aboutExchange(exchange));
      response.once("close", () => clearTimeout(timer));
    },
    watchSocket(socket, left, about) {
      const timer = start(socket, () => about);
      void left.then(() => clearTimeout(timer));
    },
  };
}

/** Whom what is told is about. */
export function aboutExchange(exchange: Exchange): About {
  const { request, requestId, method, url, record } = exchange;
  return describeRequest({ requestId, method, url, headers: request.headers, route: record.route, span: record.span });
}

interface Described {
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly route: Route | undefined;
  readonly span: Span | undefined;
}

export function describeRequest({ requestId, method, url, headers, route, span }: Described): About {
  const traceId = span?.traceId ?? traceIdOf({ headers });
  // Without the query, and not longer than it should be.
  const path = (url.split("?", 1)[0] ?? "").slice(0, 256);
  return { requestId, traceId, method, route: route?.path ?? "other", path };
}
