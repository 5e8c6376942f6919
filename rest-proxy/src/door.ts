import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { hasOneHost } from "@tributary/kit/http/host";
import { isHost, readTarget, type Target } from "./target.ts";
import type { Place } from "./route-table.ts";
import type { Route } from "./routes.ts";

/** @throws AppError MALFORMED_REQUEST. */
export function readRequestTarget(url: string): Target {
  const target = readTarget(url);
  if (!target) throw new AppError("MALFORMED_REQUEST", "The request's target is not a path as URLs have it.");
  return target;
}

/**
 * The requested host, for `Forwarded`; exactly one in HTTP/1.1 (RFC 9112, 3.2).
 * @throws AppError MALFORMED_REQUEST.
 */
export function readHost(request: IncomingMessage, target: Target): string | undefined {
  const { host } = request.headers;
  if (!hasOneHost(request) || (host !== undefined && host !== "" && !isHost(host))) {
    throw new AppError("MALFORMED_REQUEST", "A request has one Host header, with a host in it.");
  }
  return target.authority ?? (host === "" ? undefined : host);
}

/** @throws AppError METHOD_NOT_ALLOWED; `Allow` is set then. */
export function findRoute(place: Place, method: string, response: ServerResponse): Route {
  const route = place.routes.get(method);
  if (route) return route;
  response.setHeader("Allow", place.allow);
  throw new AppError("METHOD_NOT_ALLOWED", `This path takes ${place.allow}.`);
}
