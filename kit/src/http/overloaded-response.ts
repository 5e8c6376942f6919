// The 503 for a request that an overloaded process rejects: before the body is read (process/lifecycle.ts), or by admission (a service in
// service/admitted-handler.ts; the REST proxy throws `overloadedError`).
import type { ServerResponse } from "node:http";
import { AppError } from "../errors/app-error.ts";
import { toProblemDocument } from "./problem.ts";

/** Most overloads end within a second, or the process then admits other requests. */
export const overloadedRetrySeconds = 1;
/** One error for all requests: creating an error with its stack takes several microseconds. */
export const overloadedError = new AppError(
  "SERVICE_UNAVAILABLE",
  `The server is overloaded. Retry after ${overloadedRetrySeconds} s.`,
  { retryAfterSeconds: overloadedRetrySeconds },
);

export interface OverloadedResponse {
  readonly contentType: string;
  readonly body: string;
}

/** A problem document (RFC 9457). It has no request id, since it is prepared once for all requests. */
export const overloadedProblem: OverloadedResponse = {
  contentType: "application/problem+json",
  body: JSON.stringify(toProblemDocument(overloadedError, {})),
};

export function respondOverloaded(response: ServerResponse, { contentType, body }: OverloadedResponse): void {
  response.writeHead(503, {
    "Content-Type": contentType,
    "Retry-After": String(overloadedRetrySeconds),
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
