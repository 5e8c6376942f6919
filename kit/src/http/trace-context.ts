import { randomBytes } from "node:crypto";

/** Whose work a request is part of: W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hexadecimal digits, the same for all that one request causes. */
  readonly traceId: string;
  /** `01` when the caller records this trace. */
  readonly flags: string;
}

/** The call that a request came with. */
export interface CallerContext extends TraceContext {
  /** 16 hexadecimal digits: the caller's own span. */
  readonly spanId: string;
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/** Whether a `traceparent` can be passed on as it is; one of a later version may hold more than ours. */
export function isTraceParent(header: string | readonly string[] | undefined): header is string {
  return typeof header === "string" && header.length <= 512 && pattern.test(header);
}

/** The caller's trace when the header holds one, else a new one that nobody records yet. */
export function readTraceContext(header: string | readonly string[] | undefined): TraceContext {
  const caller = readCallerContext(header);
  return { traceId: caller?.traceId ?? randomDigits(32), flags: caller?.flags ?? "00" };
}

/** What a `traceparent` says; undefined when it is none. */
export function readCallerContext(header: string | readonly string[] | undefined): CallerContext | undefined {
  const match = isTraceParent(header) ? pattern.exec(header) : null;
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags };
}

/** Whether the flags say that the caller records its trace (Trace Context, section 2.2.2). */
export function isSampled({ flags }: TraceContext): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/** A `traceparent` for one call made on behalf of the request: the same trace, a span of its own. */
export function createTraceParent({ traceId, flags }: TraceContext): string {
  return `00-${traceId}-${randomDigits(16)}-${flags}`;
}

/** Digits for about 120 requests: drawing them together takes 0.15 µs for a `traceparent`, one at a time 0.4 µs. Module state for speed. */
const drawnBytes = 3_072;
let drawn = "";
let used = 0;

/** Random hexadecimal digits; an id of a span has 16, one of a trace 32. */
export function randomDigits(count: 16 | 32): string {
  if (used + count > drawn.length) {
    drawn = randomBytes(drawnBytes).toString("hex");
    used = 0;
  }
  used += count;
  return drawn.slice(used - count, used);
}
