import type { ServerResponse } from "node:http";
import { type AppError, type ParameterProblem, type Problem, statusOf } from "../errors/app-error.ts";

/** The members of a problem document (RFC 9457). `errors` has every problem of the body or of the query, `choices` the media ranges that a 406 accepts. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly requestId?: string;
  readonly errors?: readonly (Problem | ParameterProblem)[];
  readonly choices?: readonly string[];
}

export interface ProblemContext {
  /** The path that was asked for, without its query: a query may hold what must not be repeated. */
  readonly instance?: string | undefined;
  readonly requestId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function toProblemDocument(error: AppError, about: ProblemContext): ProblemDocument {
  const errors = error.problems ?? error.parameterProblems;
  return {
    type: `/problems/${error.code.toLowerCase().replaceAll("_", "-")}`,
    title: titleOf(error.code),
    status: statusOf[error.code],
    detail: error.message,
    ...(about.instance === undefined ? {} : { instance: about.instance }),
    ...(about.requestId === undefined ? {} : { requestId: about.requestId }),
    ...(errors === undefined ? {} : { errors }),
    ...(error.choices === undefined ? {} : { choices: error.choices }),
  };
}

/** What may have been said of an answer that did not come about; to a cache that knows it, the first stands above `no-store` (RFC 9213, 2.2). */
const saidOfAnswers = ["CDN-Cache-Control", "Cache-Groups", "ETag", "Last-Modified"];

/**
 * Answers with `application/problem+json`, never to be stored. `Retry-After` is said where the error says so; a 401 names the scheme
 * (RFC 9110, 11.6.1), and to whoever sent a token that it is not good (RFC 6750, 3.1). Does nothing but end the connection when the answer has begun already.
 */
export function writeProblem(response: ServerResponse, error: AppError, about: ProblemContext = {}): void {
  if (response.headersSent) return void response.destroy();
  const body = Buffer.from(JSON.stringify(toProblemDocument(error, about)));
  response.statusCode = statusOf[error.code];
  if (error.code === "UNAUTHENTICATED") response.setHeader("WWW-Authenticate", challenge(response));
  if (error.code === "FORBIDDEN") response.setHeader("WWW-Authenticate", 'Bearer error="insufficient_scope"');
  if (error.retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(error.retryAfterSeconds));
  for (const [name, value] of Object.entries(about.headers ?? {})) response.setHeader(name, value);
  response.setHeader("Content-Type", "application/problem+json");
  for (const name of saidOfAnswers) response.removeHeader(name);
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Content-Length", body.length);
  response.end(response.req?.method === "HEAD" ? undefined : body);
}

function challenge({ req: request }: ServerResponse): string {
  const realm = 'Bearer realm="tributary"';
  return request?.headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}

function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
