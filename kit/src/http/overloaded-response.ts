import type { ServerResponse } from "node:http";
import { AppError } from "../errors/app-error.ts";
import { toProblemDocument } from "./problem.ts";

/** Most overloads end within a second. */
export const overloadedRetrySeconds = 1;
/** Creating an error with its stack takes several microseconds. */
export const overloadedError = new AppError(
  "SERVICE_UNAVAILABLE",
  `The server is overloaded. Retry after ${overloadedRetrySeconds} s.`,
  { retryAfterSeconds: overloadedRetrySeconds },
);

export interface OverloadedResponse {
  readonly contentType: string;
  readonly body: string;
}

/** It has no request id, since it is prepared once for all requests. */
export const overloadedProblem: OverloadedResponse = {
  contentType: "application/problem+json",
  body: JSON.stringify(toProblemDocument(overloadedError, {})),
};

/** @param headers further ones, as a raw list, such as those of CORS: without them, a page can read neither the status nor `Retry-After`. */
export function respondOverloaded(
  response: ServerResponse,
  { contentType, body }: OverloadedResponse,
  headers: readonly string[] = [],
): void {
  response.writeHead(503, [
    ...["Content-Type", contentType],
    ...["Retry-After", String(overloadedRetrySeconds)],
    ...["Cache-Control", "no-store"],
    ...["Content-Length", String(Buffer.byteLength(body))],
    ...headers,
  ]);
  response.end(response.req.method === "HEAD" ? undefined : body);
}
