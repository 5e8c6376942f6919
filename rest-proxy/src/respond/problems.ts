import type { ServerResponse } from "node:http";
import { AppError, internalErrorMessage } from "@tributary/kit/errors/app-error";
import { writeProblem } from "@tributary/kit/http/problem";
import { discardRest } from "../admit/body.ts";
import { describeRequest, type Exchange } from "../admit/exchange.ts";
import { parseTarget } from "../admit/request-target.ts";
import { ClientDisconnected, ServiceFailure } from "../errors/service-failure.ts";
import type { Observe } from "../telemetry/observations.ts";
import { listProxyHeaders } from "./proxy-headers.ts";

/** An error that is no `AppError` is a bug: it is reported, and the client gets a 500. A response that has started is destroyed. */
export function respondWithProblem(error: unknown, exchange: Exchange, observe: Observe): void {
  if (error instanceof ClientDisconnected) return;
  const { request, response, requestId, url, proxyHeaders, record } = exchange;
  const isExpected = error instanceof AppError;
  if (!isExpected) observe({ kind: "bug", cause: error, ...describeRequest(exchange) });
  if (!isUnstarted(response)) {
    response.destroy();
    return;
  }
  discardRest(request, response);
  const clientError = isExpected ? error : new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage);
  record.code = clientError.code;
  if (clientError instanceof ServiceFailure) record.failedReplica = clientError.replica;
  // For a 406 no version was chosen, so route/version.ts has not added it.
  if (clientError.code === "NOT_ACCEPTABLE") proxyHeaders.vary.push("Accept");
  writeProblem(response, clientError, { instance: instanceOf(url), requestId }, listProxyHeaders(proxyHeaders));
}

/** From its beginning. */
export function isUnstarted(response: ServerResponse): boolean {
  return !response.headersSent && !response.destroyed && !response.closed;
}

/** Without the query, which may contain secrets. A path that begins with two slashes would name another host as a reference (RFC 3986, 4.2). */
function instanceOf(url: string): string | undefined {
  const path = parseTarget(url)?.path;
  return path?.startsWith("//") ? undefined : path;
}
