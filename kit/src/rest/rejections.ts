import type { Request, Response } from "express";
import { AppError } from "../errors/app-error.ts";
import { writeProblem } from "../http/problem.ts";
import { readRequestId } from "../http/request-id.ts";
import { mediaTypes } from "./body.ts";
import type { RouteDeclaration } from "./routes.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";

/** Responds with an AppError as its problem document, and masks any other error. */
export function rejectRequest(failures: RequestFailures, request: Request, response: Response, error: unknown): void {
  const requestId = readRequestId(request.headers["x-request-id"]);
  failures.report(error, { requestId });
  const problem =
    error instanceof AppError ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
  // Express's Request.path is below the router; the problem names the path that the client requested.
  writeProblem(response, problem, { instance: publicPath(request), requestId });
}

/** The methods of one path's routes. `GET` implies `HEAD`. */
export function listMethods(pathRoutes: readonly RouteDeclaration[]): readonly string[] {
  return pathRoutes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/** Responds to a method that the path has no route for with a 405 that lists the allowed ones; to `OPTIONS` with a 204 that lists them. */
export function rejectMethod(
  failures: RequestFailures,
  pathRoutes: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): void {
  const methods = listMethods(pathRoutes);
  response.setHeader("Allow", [...methods, "OPTIONS"].join(", "));
  // RFC 5789, 3.1
  if (methods.includes("PATCH")) response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  rejectRequest(
    failures,
    request,
    response,
    new AppError("METHOD_NOT_ALLOWED", `This path accepts ${methods.join(", ")}.`),
  );
}

/** The path that the client requested, with the prefix above the router and without the query. */
export function publicPath(request: Request): string {
  return (request.originalUrl.split("?", 1)[0] ?? "").replace(/^\/rest/, "");
}
