import { randomBytes } from "node:crypto";

/** The trace that a request belongs to: W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hexadecimal digits, the same for all requests that one request causes. */
  readonly traceId: string;
  /** `01` if the caller records this trace. */
  readonly flags: string;
}

/** The content of a valid `traceparent`. */
export interface CallerContext extends TraceContext {
  /** 16 hexadecimal digits: the caller's span. */
  readonly spanId: string;
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/** Whether a `traceparent` is valid and can be forwarded unchanged. One of a later version may have more fields. */
export function isTraceParent(header: string | readonly string[] | undefined): header is string {
  return typeof header === "string" && header.length <= 512 && pattern.test(header);
}

/** The caller's trace if the header is valid, else a new one, which is not sampled. */
export function readTraceContext(header: string | readonly string[] | undefined): TraceContext {
  const caller = readCallerContext(header);
  return { traceId: caller?.traceId ?? randomDigits(32), flags: caller?.flags ?? "00" };
}

export function readCallerContext(header: string | readonly string[] | undefined): CallerContext | undefined {
  const match = isTraceParent(header) ? pattern.exec(header) : null;
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags };
}

/** Whether the caller records its trace (Trace Context, section 2.2.2). */
export function isSampled({ flags }: TraceContext): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/** A `traceparent` for one request to a service: the same trace, a new span id. */
export function createTraceParent({ traceId, flags }: TraceContext): string {
  return `00-${traceId}-${randomDigits(16)}-${flags}`;
}

/** Random bytes for about 120 requests. Generated together they take 0.15 µs per `traceparent`, one at a time 0.4 µs. Module state for speed. */
const poolBytes = 3_072;
let pool = "";
let used = 0;

/** Random hexadecimal digits: 16 for a span id, 32 for a trace id. */
export function randomDigits(count: 16 | 32): string {
  if (used + count > pool.length) {
    pool = randomBytes(poolBytes).toString("hex");
    used = 0;
  }
  used += count;
  return pool.slice(used - count, used);
}
