import { findHeader } from "@tributary/kit/http/raw-headers";
import { secondsMax } from "./cache-control.ts";
import { parseHttpDate } from "@tributary/kit/http/http-date";

/** When an answer was asked for and when its head came, in milliseconds since 1970. */
export interface Exchanged {
  readonly askedMs: number;
  readonly cameMs: number;
}

/**
 * The moment at which an answer was born, as far as can be told: its age at any later moment is the time since then (RFC 9111, 4.2.3). It is the
 * older of what `Date` and what `Age` say, the way here counted in.
 */
export function bornAtMs(headers: readonly string[], { askedMs, cameMs }: Exchanged): number {
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", cameMs) ?? cameMs;
  const apparentAgeMs = Math.max(0, cameMs - dateMs);
  const correctedAgeMs = ageValueSeconds(headers) * 1_000 + Math.max(0, cameMs - askedMs);
  return cameMs - Math.max(apparentAgeMs, correctedAgeMs);
}

/** RFC 9111, 5.1: of a list the first member counts; what is no whole number is ignored. */
export function ageValueSeconds(headers: readonly string[]): number {
  const first = (findHeader(headers, "age") ?? "").split(",", 1)[0]?.trim() ?? "";
  return /^\d+$/.test(first) ? Math.min(Number(first), secondsMax) : 0;
}

/** Whole seconds since its birth, never negative: a clock may be set back. */
export function ageSeconds(bornAtMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - bornAtMs) / 1_000));
}

/** Statuses that may be kept where nothing forbids it (RFC 9110, 15.1); partial content is not kept here at all. */
export const cacheableByDefault: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);

/** A tenth of the time since it last changed, where the origin says nothing (RFC 9111, 4.2.2). 0: no guess. */
export function heuristicSeconds(
  {
    status,
    headers,
    isPublic,
  }: { readonly status: number; readonly headers: readonly string[]; readonly isPublic: boolean },
  { cameMs, secondsMax: most }: { readonly cameMs: number; readonly secondsMax: number },
): number {
  if (!cacheableByDefault.has(status) && !isPublic) return 0;
  const changedMs = parseHttpDate(findHeader(headers, "last-modified") ?? "", cameMs);
  if (changedMs === undefined) return 0;
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", cameMs) ?? cameMs;
  return Math.max(0, Math.min(most, Math.floor((dateMs - changedMs) / 10_000)));
}
