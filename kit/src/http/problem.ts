// Problem documents (RFC 9457): the error responses of the REST proxy and of the services' REST endpoints.
import type { ServerResponse } from "node:http";
import { type AppError, type ErrorCode, type ParameterProblem, type Problem, statusOf } from "../errors/app-error.ts";
import { invalidTokenChallenge, missingTokenChallenge } from "./challenges.ts";

/** The members of a problem document (RFC 9457). */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly requestId?: string;
  /** Every problem of the body, or every problem of the query: an error has one or the other. */
  readonly errors?: readonly (Problem | ParameterProblem)[];
  /** In a 406: the media types that the path offers. */
  readonly choices?: readonly string[];
}

export interface ProblemContext {
  /** The requested path, without its query: a query may contain secrets. */
  readonly instance?: string | undefined;
  readonly requestId?: string | undefined;
}

type MutableProblemDocument = { -readonly [Name in keyof ProblemDocument]: ProblemDocument[Name] };

export function toProblemDocument(error: AppError, context: ProblemContext): ProblemDocument {
  const document: MutableProblemDocument = {
    type: problemTypeOf(error.code),
    title: titleOf(error.code),
    status: statusOf[error.code],
    detail: error.message,
  };
  const errors = error.problems ?? error.parameterProblems;
  if (context.instance !== undefined) document.instance = context.instance;
  if (context.requestId !== undefined) document.requestId = context.requestId;
  if (errors !== undefined) document.errors = errors;
  if (error.choices !== undefined) document.choices = error.choices;
  return document;
}

/** The `type` of a problem, which is also the path of its page: `/problems/not-found`. */
export function problemTypeOf(code: ErrorCode): string {
  return `/problems/${problemNameOf(code)}`;
}

/** The last segment of a problem's `type`: `not-found`. */
export function problemNameOf(code: ErrorCode): string {
  return code.toLowerCase().replaceAll("_", "-");
}

/** Headers that a handler may have set before it failed. `CDN-Cache-Control` would take precedence over `no-store` (RFC 9213, 2.2). */
const successHeaders = ["CDN-Cache-Control", "Cache-Groups", "ETag", "Last-Modified"];

/**
 * Responds with an uncacheable `application/problem+json` (RFC 9457); to HEAD without the body. Headers already set on the response (CORS, Vary,
 * Allow) are kept; only `successHeaders` are removed. A 401 names the scheme (RFC 9110, 11.6.1), and `invalid_token` if a token was sent (RFC 6750,
 * 3.1). Every 403 names `insufficient_scope`, the only error code of RFC 6750 for a valid token that does not suffice, even if no scope is missing
 * but the row has another owner. If the head of a response is already sent, this only closes the connection.
 * @param headers more headers, as alternating names and values.
 */
export function writeProblem(
  response: ServerResponse,
  error: AppError,
  context: ProblemContext = {},
  headers: readonly string[] = [],
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(toProblemDocument(error, context)));
  for (const name of successHeaders) response.removeHeader(name);
  const problemHeaders = [...headers];
  if (error.code === "UNAUTHENTICATED") {
    const hasToken = response.req?.headers.authorization !== undefined;
    problemHeaders.push("WWW-Authenticate", hasToken ? invalidTokenChallenge : missingTokenChallenge);
  }
  if (error.code === "FORBIDDEN") problemHeaders.push("WWW-Authenticate", 'Bearer error="insufficient_scope"');
  if (error.retryAfterSeconds !== undefined) problemHeaders.push("Retry-After", String(error.retryAfterSeconds));
  problemHeaders.push("Content-Type", "application/problem+json", "Cache-Control", "no-store");
  problemHeaders.push("Content-Length", String(body.length));
  // One call takes 3 µs less than a `setHeader` call for each header.
  response.writeHead(statusOf[error.code], problemHeaders);
  if (response.req?.method === "HEAD") {
    response.end();
    return;
  }
  // As a string, which node:http sends in one write with the head; latin1 keeps the bytes unchanged.
  response.end(body.toString("latin1"), "latin1");
}

function titleOf(code: ErrorCode): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
