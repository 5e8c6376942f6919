import { forEachHeader, joinHeaderLines, parseTokens, withoutHeaders } from "@tributary/kit/http/raw-headers";

/** Said for one connection, or by one proxy for itself (RFC 9111, 3.1; RFC 9110, 7.6.1). */
const neverStored: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * What an answer is stored with, or passed on: without what was for the connection (its length too where the body came in chunks), what
 * `Connection` names, and what the policy keeps out.
 */
export function storedHeaders(headers: readonly string[], unstoredFields: readonly string[] = []): string[] {
  const named = new Set([...parseTokens(joinHeaderLines(headers, "connection")), ...unstoredFields]);
  return withoutHeaders(headers, (name) => neverStored.has(name) || named.has(name));
}

/**
 * A 304 says these of a body that it does not carry: the stored body's own stay (RFC 9111, 3.2 demands it of `Content-Length`; the others describe
 * the bytes that are kept). A validator was matched, so it is the stored one.
 */
const saidOfTheBody: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-md5",
  "content-range",
  "etag",
]);

/** The stored headers, each field that the 304 brings replaced whole (RFC 9111, 3.2). `update` is as `storedHeaders` makes it. */
export function freshenedHeaders(stored: readonly string[], update: readonly string[]): string[] {
  const brought = withoutHeaders(update, (name) => saidOfTheBody.has(name));
  const names = new Set<string>();
  forEachHeader(brought, (name) => void names.add(name.toLowerCase()));
  // The age that was stored is over: what counts is the 304's (RFC 9111, 4.2.3).
  return [...withoutHeaders(stored, (name) => name === "age" || names.has(name)), ...brought];
}
