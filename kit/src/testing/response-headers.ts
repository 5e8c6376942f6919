// Headers of REST responses, as tests compare and follow them.

interface WithHeaders {
  readonly headers: Headers;
}

/** @returns the `ETag`; "none" if the response has none. */
export function etagOf({ headers }: WithHeaders): string {
  return headers.get("etag") ?? "none";
}

/** @returns the target of the `Link` (RFC 8288) with this relation. */
export function findLink({ headers }: WithHeaders, rel: string): string | undefined {
  const links = (headers.get("link") ?? "").split(", ");
  const link = links.find((candidate) => candidate.endsWith(`rel="${rel}"`));
  // The target is in angle brackets: </v2/users?cursor=x>; rel="next"
  return link?.slice(1, link.indexOf(">"));
}

/** Like `findLink`, but returns "no such link" if there is none: a request to it fails. */
export function linkOf(response: WithHeaders, rel: string): string {
  return findLink(response, rel) ?? "no such link";
}

/** @returns the values of the headers that are keys of `expected`, to compare with it; null for a missing header. */
export function pickHeaders(headers: Headers, expected: object): object {
  return Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]));
}
