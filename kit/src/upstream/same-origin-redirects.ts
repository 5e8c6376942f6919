import type { ResponseBody, Transport, TransportResult } from "./transport.ts";

/** 303 means a GET (RFC 9110, section 15.4.4). After 301 and 302 a client may change the method (15.4.2 and 15.4.3); this one does not. */
const followedStatuses: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const redirectsMax = 5;

/**
 * Follows redirects to the replica's own origin, with the method, the headers and the body of the request. All are one attempt: its deadline covers
 * them, and only the last response counts for retries and for the health of the replica.
 * @param transport buffers responses: that of a redirect must not occupy the connection.
 */
export function withSameOriginRedirects<Connection>(
  transport: Transport<Connection, Buffer>,
): Transport<Connection, Buffer> {
  return async (replica, request, deadline) => {
    let path = request.path ?? replica.path;
    let result = await transport(replica, request, deadline);
    for (let followed = 0; followed < redirectsMax; followed++) {
      const next = findPath(result, replica.origin, path);
      if (next === undefined) return result;
      if (deadline.ended) return { kind: "failed", ...deadline.ended };
      path = next;
      result = await transport(replica, { ...request, path }, deadline);
    }
    return result;
  };
}

/** Undefined unless it is a redirect to a path of this origin. */
function findPath(result: TransportResult<ResponseBody>, origin: string, path: string): string | undefined {
  if (result.kind === "failed" || !followedStatuses.has(result.status)) return undefined;
  const { location } = result.headers;
  if (typeof location !== "string" || !URL.canParse(location, origin + path)) return undefined;
  const target = new URL(location, origin + path);
  return target.origin === origin ? target.pathname + target.search : undefined;
}
