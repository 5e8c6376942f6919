import type { Request, Response } from "express";
import { AppError, statusOf } from "./errors.ts";
import type { Log } from "./log.ts";
import { writeProblem } from "./problem.ts";
import { readRequestId } from "./request-id.ts";
import { mediaTypes } from "./rest-body.ts";
import type { RouteDeclaration } from "./routes.ts";

/** Answers an AppError as its problem, and masks any other error, which the log gets whole. */
export function refuse(log: Log, request: Request, response: Response, error: unknown): void {
  const requestId = readRequestId(request.headers["x-request-id"]);
  const known = error instanceof AppError;
  const told = known ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
  // A caller's mistakes are theirs: strangers neither fill the log nor have what they sent kept in it.
  if (statusOf[told.code] >= 500) log[known ? "warn" : "error"]({ err: error, requestId }, "a REST request failed");
  // Express's Request.path is below the router; what the caller asked for is above it.
  writeProblem(response, told, { instance: publicPath(request), requestId });
}

/** The methods of one path's routes; `GET` serves `HEAD` too. */
export function listMethods(here: readonly RouteDeclaration[]): readonly string[] {
  return here.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/** A method that the path has no route for is a 405 that lists its methods; `OPTIONS` lists them in a 204. */
export function refuseMethod(log: Log, here: readonly RouteDeclaration[], request: Request, response: Response): void {
  const methods = listMethods(here);
  response.setHeader("Allow", [...methods, "OPTIONS"].join(", "));
  // RFC 5789, 3.1
  if (methods.includes("PATCH")) response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  refuse(log, request, response, new AppError("METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")}.`));
}

/** The path as a client asked for it, above the router and without its query. */
export function publicPath(request: Request): string {
  return (request.originalUrl.split("?", 1)[0] ?? "").replace(/^\/rest/, "");
}
