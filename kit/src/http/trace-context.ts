import { randomBytes } from "node:crypto";

/** The trace that a request belongs to: W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hexadecimal digits, the same for all requests that one request causes. */
  readonly traceId: string;
  /** Two hexadecimal digits, a bit field: the lowest bit is set if the caller records this trace. */
  readonly flags: string;
}

/** The content of a valid `traceparent`. */
export interface CallerContext extends TraceContext {
  /** 16 hexadecimal digits: the caller's span. */
  readonly spanId: string;
}

/** Version, trace id, span id and flags. Ids of zeros are invalid. */
const traceParentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const traceParentCharsMax = 512;

/** Whether a `traceparent` is valid and can be forwarded unchanged. Any version but `ff` is accepted, and so are additional fields. */
export function isTraceParent(header: string | readonly string[] | undefined): header is string {
  return typeof header === "string" && header.length <= traceParentCharsMax && traceParentPattern.test(header);
}

/**
 * The caller's trace if the header is valid, else a new one; not sampled, since this process does not record it: the caller's flag would make the
 * processes behind this one record it.
 */
export function readUnsampledTrace(header: string | readonly string[] | undefined): TraceContext {
  return { traceId: readCallerContext(header)?.traceId ?? randomDigits(32), flags: "00" };
}

/** Where the two digits of the flags are in a `traceparent`. */
const flagsStart = 53;
const flagsEnd = 55;

/** @param traceParent a valid one (`isTraceParent`). @returns the same without the sampled flag. */
export function clearSampledFlag(traceParent: string): string {
  const flags = Number.parseInt(traceParent.slice(flagsStart, flagsEnd), 16);
  if ((flags & 1) === 0) return traceParent;
  const cleared = (flags - 1).toString(16).padStart(2, "0");
  return traceParent.slice(0, flagsStart) + cleared + traceParent.slice(flagsEnd);
}

export function readCallerContext(header: string | readonly string[] | undefined): CallerContext | undefined {
  if (!isTraceParent(header)) return undefined;
  const [, traceId, spanId, flags] = traceParentPattern.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags };
}

/** Whether the caller records its trace (Trace Context, "sampled flag"). */
export function isSampled({ flags }: TraceContext): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/** A `traceparent` for one request to a service: the same trace, a new span id. */
export function createTraceParent({ traceId, flags }: TraceContext): string {
  return `00-${traceId}-${randomDigits(16)}-${flags}`;
}

/** Random digits are generated in advance, in module state: 0.15 µs per `traceparent`, against 0.4 µs with one call of `randomBytes` for each. */
const poolBytes = 3_072;
let digitPool = "";
let usedDigits = 0;

/** Random hexadecimal digits: 16 for a span id, 32 for a trace id. */
export function randomDigits(length: 16 | 32): string {
  if (usedDigits + length > digitPool.length) {
    digitPool = randomBytes(poolBytes).toString("hex");
    usedDigits = 0;
  }
  const start = usedDigits;
  usedDigits += length;
  return digitPool.slice(start, usedDigits);
}
