import type { Request, Response } from "express";
import { AppError, internalErrorMessage } from "../errors/app-error.ts";
import { writeProblem } from "../http/problem.ts";
import { readRequestId } from "../http/request-id.ts";
import { mediaTypes } from "./body.ts";
import type { RouteDeclaration } from "./routes.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";

/**
 * Responds with a problem document; any error but an AppError is masked as a 500. If the head of a response is already sent, closes the connection
 * instead. `failures` logs and counts errors from 500 on.
 */
export function respondWithError(
  failures: RequestFailures,
  request: Request,
  response: Response,
  error: unknown,
): void {
  // The observer (telemetry/service-observer.ts), if there is one, has written this id into the header before.
  const requestId = readRequestId(request.headers["x-request-id"]);
  failures.report(error, { requestId });
  const problem = error instanceof AppError ? error : new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage);
  writeProblem(response, problem, { instance: publicPath(request), requestId });
}

/** The methods of one path's routes. `GET` implies `HEAD`. */
export function listMethods(pathRoutes: readonly RouteDeclaration[]): readonly string[] {
  return pathRoutes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/** Responds to a method that no route of the path declares: 204 to `OPTIONS`, otherwise 405. Both list the methods in `Allow`. */
export function respondToUndeclaredMethod(
  failures: RequestFailures,
  pathRoutes: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): void {
  const methods = listMethods(pathRoutes);
  response.setHeader("Allow", [...methods, "OPTIONS"].join(", "));
  // RFC 5789, 3.1. Responses of the PATCH route itself get `Accept-Patch` in rest-endpoint.ts.
  if (methods.includes("PATCH")) response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  if (request.method === "OPTIONS") {
    response.writeHead(204).end();
    return;
  }
  const error = new AppError("METHOD_NOT_ALLOWED", `This path accepts ${methods.join(", ")}.`);
  respondWithError(failures, request, response, error);
}

const restPrefix = /^\/rest(?=\/)/;

/**
 * The path that the client of the REST proxy requested, without the query: `/v1/users/1` for `/rest/v1/users/1`. Express's `request.path`
 * does not have the version.
 */
export function publicPath(request: Request): string {
  const [path = ""] = request.originalUrl.split("?", 1);
  return path.replace(restPrefix, "");
}
