import { parseHttpDate } from "../http/http-date.ts";

const secondsPattern = /^\d{1,9}$/;

/** `Retry-After` (RFC 9110, 10.2.3) in whole seconds. Undefined without one, or for an invalid value. */
export function readRetryAfter(header: unknown, nowMs = Date.now()): number | undefined {
  if (typeof header !== "string") return undefined;
  if (secondsPattern.test(header)) return Number(header);
  const dateMs = parseHttpDate(header, nowMs);
  return dateMs === undefined ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1_000));
}
