import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors";
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
 * The host that was asked, for `Forwarded`; exactly one in HTTP/1.1 (RFC 9112, 3.2).
 * @throws AppError MALFORMED_REQUEST.
 */
export function readHost({ headers, rawHeaders, httpVersion }: IncomingMessage, target: Target): string | undefined {
  const { host } = headers;
  const isMissing = host === undefined && httpVersion !== "1.0";
  if (isMissing || isRepeated(rawHeaders, "host") || (host !== undefined && host !== "" && !isHost(host))) {
    throw new AppError("MALFORMED_REQUEST", "A request has one Host header, with a host in it.");
  }
  return target.authority ?? (host === "" ? undefined : host);
}

/** Node keeps the first and says nothing of the second. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const one = rawHeaders[at] ?? "";
    if (one.length === name.length && one.toLowerCase() === name) count++;
  }
  return count > 1;
}

/** @throws AppError METHOD_NOT_ALLOWED; `Allow` is set then. */
export function findRoute(place: Place, method: string, response: ServerResponse): Route {
  const route = place.routes.get(method);
  if (route) return route;
  response.setHeader("Allow", place.allow);
  throw new AppError("METHOD_NOT_ALLOWED", `This path takes ${place.allow}.`);
}
