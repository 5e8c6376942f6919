import type { Request, Response } from "express";
import { AppError, internalErrorMessage } from "../errors/app-error.ts";
import { writeProblem } from "../http/problem.ts";
import { readRequestId } from "../http/request-id.ts";
import { mediaTypes } from "./body.ts";
import { SharedMissingError, toMissingHeaders } from "./caching.ts";
import type { RouteDeclaration } from "./routes.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";

/** Masks any error but an AppError as a 500. If the head of a response is already sent, closes the connection. */
export function respondWithError(
  failures: RequestFailures,
  request: Request,
  response: Response,
  error: unknown,
): void {
  const requestId = readRequestId(request.headers["x-request-id"]);
  failures.report(error, { requestId });
  const problem = error instanceof AppError ? error : new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage);
  const instance = publicPath(request);
  if (!(problem instanceof SharedMissingError)) return writeProblem(response, problem, { instance, requestId });
  // Without the request id, since the document is sent to other clients too.
  const headers = Object.entries(toMissingHeaders(problem.groups)).flat();
  writeProblem(response, problem, { instance }, headers);
}

/** `GET` implies `HEAD`. */
export function listMethods(pathRoutes: readonly RouteDeclaration[]): readonly string[] {
  return pathRoutes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

export function respondToUndeclaredMethod(
  failures: RequestFailures,
  pathRoutes: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): void {
  const methods = listMethods(pathRoutes);
  response.setHeader("Allow", [...methods, "OPTIONS"].join(", "));
  // RFC 5789, 3.1.
  if (methods.includes("PATCH")) response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  if (request.method === "OPTIONS") {
    response.writeHead(204).end();
    return;
  }
  const error = new AppError("METHOD_NOT_ALLOWED", `This path accepts ${methods.join(", ")}.`);
  respondWithError(failures, request, response, error);
}

const restPrefix = /^\/rest(?=\/)/;

/** `/v1/users/1` for `/rest/v1/users/1`: the path at the REST proxy. Express's `request.path` does not have the version. */
export function publicPath(request: Request): string {
  const [path = ""] = request.originalUrl.split("?", 1);
  return path.replace(restPrefix, "");
}
