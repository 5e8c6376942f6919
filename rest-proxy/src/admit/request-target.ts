// Stage 1 of 5: admit. Validates the request target and `Host`.
import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { hasOneHost } from "@tributary/kit/http/host";

export interface Target {
  /** As sent, from its first slash. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /** Of a target in absolute-form. It overrides `Host` (RFC 9112, 3.2.2), but never selects a service. */
  readonly authority: string | undefined;
}

const absoluteForm = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i;
const pathPattern = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;
/** More than RFC 3986 permits: browsers send `"[]{}|^` and the like unencoded. */
const queryPattern = /^[\x21\x22\x24-\x7e]*$/;
const hostPattern = /^(?:[A-Za-z0-9._~-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** @returns undefined for another form than origin-form or absolute-form, or with a backslash, a fragment or an invalid escape. */
export function parseTarget(text: string): Target | undefined {
  const [prefix = "", authority] = absoluteForm.exec(text) ?? [];
  if (authority !== undefined && !isHost(authority)) return undefined;
  const pathAndQuery = text.slice(prefix.length);
  const queryMark = pathAndQuery.indexOf("?");
  const hasQuery = queryMark !== -1;
  const sentPath = hasQuery ? pathAndQuery.slice(0, queryMark) : pathAndQuery;
  const query = hasQuery ? pathAndQuery.slice(queryMark + 1) : "";
  // An empty path in absolute-form is equivalent to `/` (RFC 9110, 4.2.3).
  const path = sentPath === "" && authority !== undefined ? "/" : sentPath;
  const isValid = pathPattern.test(path) && queryPattern.test(query);
  return isValid ? { path, query, authority } : undefined;
}

export function readTarget(url: string): Target {
  const target = parseTarget(url);
  if (!target) throw new AppError("MALFORMED_REQUEST", "The request target is not a valid path.");
  return target;
}

/** With an optional port (RFC 9110, 7.2). */
export function isHost(text: string): boolean {
  return hostPattern.test(text);
}

/** Undefined if it is empty, or missing in HTTP/1.0 (RFC 9112, 3.2). @throws AppError MALFORMED_REQUEST. */
export function readHost(request: IncomingMessage, target: Target): string | undefined {
  const { host } = request.headers;
  const isEmpty = host === undefined || host === "";
  const isValid = hasOneHost(request) && (isEmpty || isHost(host));
  if (!isValid) throw new AppError("MALFORMED_REQUEST", "Send exactly one Host header, with a valid host.");
  if (target.authority !== undefined) return target.authority;
  return isEmpty ? undefined : host;
}
