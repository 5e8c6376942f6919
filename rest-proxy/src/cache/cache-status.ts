/** Why the origin was asked (RFC 9211, 2.2). */
export type Forwarded = "bypass" | "method" | "uri-miss" | "vary-miss" | "request" | "stale" | "partial";

export interface StatusParts {
  readonly forwarded: Forwarded;
  /** What the origin said; 0 when it said nothing. */
  readonly status?: number;
  readonly isStored?: boolean;
  readonly isCollapsed?: boolean;
}

/** Our member of `Cache-Status` for an answer that the origin was asked for (RFC 9211, 2.2 to 2.6). Seconds in `ttl`, negative when stale. */
export function forwardedStatus(name: string, { forwarded, status, isStored, isCollapsed }: StatusParts): string {
  // Said with every answer that passes: no list is made of it.
  let text = `${name}; fwd=${forwarded}`;
  if (status) text += `; fwd-status=${status}`;
  if (isStored) text += "; stored";
  return isCollapsed ? `${text}; collapsed` : text;
}

/** RFC 9211, 2.1 and 2.4. */
export function hitStatus(name: string, ttlSeconds: number): string {
  return `${name}; hit; ttl=${ttlSeconds}`;
}
