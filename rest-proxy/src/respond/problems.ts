import { type ServerResponse, STATUS_CODES } from "node:http";
import { AppError, type ErrorCode, internalErrorMessage, statusOf } from "@tributary/kit/errors/app-error";
import { overloadedError, overloadedProblem, overloadedRetrySeconds } from "@tributary/kit/http/overloaded-response";
import { toProblemDocument, writeProblem } from "@tributary/kit/http/problem";
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { discardRest } from "../admit/body.ts";
import { describeRequest, type Exchange } from "../admit/exchange.ts";
import { parseTarget } from "../admit/request-target.ts";
import { destroyBody } from "../cache/body-relay.ts";
import type { OriginResponse } from "../cache/cache-request.ts";
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

/** Prepared once: the rejection of an overloaded proxy has to cost little. So it has the request's id in `X-Request-Id` only. */
const overloadedHeaders = [
  ["Content-Type", overloadedProblem.contentType],
  ["Retry-After", String(overloadedRetrySeconds)],
  ["Cache-Control", "no-store"],
  ["Content-Length", String(overloadedProblem.body.length)],
].flat();

/** @returns a function that sends the response. It retains no more of the request than that needs, because many rejections may wait. */
export function prepareOverloaded({ method, response, proxyHeaders, record }: Exchange): () => void {
  const headers = [...listProxyHeaders(proxyHeaders), ...overloadedHeaders];
  const body = method === "HEAD" ? undefined : overloadedProblem.body;
  return () => {
    if (!isUnstarted(response)) return;
    record.code = overloadedError.code;
    record.isRejectedByAdmission = true;
    response.writeHead(503, headers).end(body, "latin1");
  };
}

const problemType = /^application\/problem\+json\s*(?:;|$)/i;

/** An error of a service that is no problem document: a page of a framework or of an intermediary, which may show internals. */
export function isForeignError({ status, headers }: OriginResponse): boolean {
  return status >= 400 && !problemType.test(findHeader(headers, "content-type") ?? "");
}

/** Not about the replaced body. `Write-Position` becomes a receipt. */
const remainingHeaders: ReadonlySet<string> = new Set([
  "allow",
  "date",
  "retry-after",
  "vary",
  "write-position",
  "www-authenticate",
]);

/** About the connection to the service, so no client can act on them. */
const statusesOfHop: ReadonlySet<number> = new Set([407, 421]);

/** A problem document instead of a foreign error, with its status. A 5xx that no problem has is 502. */
export function replaceForeignError(
  { status, headers, body }: OriginResponse,
  { requestId, url }: Pick<Exchange, "requestId" | "url">,
): OriginResponse {
  destroyBody(body);
  const known = codes.find((candidate) => statusOf[candidate] === status);
  const code = known ?? "BAD_GATEWAY";
  const error = new AppError(code, `The service for this path responded with status ${status}.`);
  const document = toProblemDocument(error, { instance: instanceOf(url), requestId });
  const isClientError = known === undefined && status < 500 && !statusesOfHop.has(status);
  // The problem that has no meaning but that of its status (RFC 9457, 4.2.1).
  const title = STATUS_CODES[status] ?? "Client error";
  const sent = isClientError ? { ...document, type: "about:blank", title, status } : document;
  const problem = Buffer.from(JSON.stringify(sent));
  const problemHeaders = withoutHeaders(headers, (name) => !remainingHeaders.has(name));
  problemHeaders.push("Content-Type", "application/problem+json", "Cache-Control", "no-store");
  problemHeaders.push("Content-Length", String(problem.length));
  return { status: isClientError ? status : statusOf[code], headers: problemHeaders, body: problem };
}

const codes = Object.keys(statusOf) as readonly ErrorCode[];

/** From its beginning. */
export function isUnstarted(response: ServerResponse): boolean {
  return !response.headersSent && !response.destroyed && !response.closed;
}

/** Without the query, which may contain secrets. A path that begins with two slashes would name another host as a reference (RFC 3986, 4.2). */
function instanceOf(url: string): string | undefined {
  const path = parseTarget(url)?.path;
  return path?.startsWith("//") ? undefined : path;
}
