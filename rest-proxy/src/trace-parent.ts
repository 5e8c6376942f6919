import type { IncomingMessage } from "node:http";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/trace-context";

/**
 * The `traceparent` that a service gets of a request which nobody records here: the caller's own, else one that is made now. It takes the
 * header's place, so that whoever asks again says the same one.
 */
export function traceParentOf({ headers }: Pick<IncomingMessage, "headers">): string {
  if (isTraceParent(headers["traceparent"])) return headers["traceparent"];
  const made = createTraceParent(readTraceContext(undefined));
  headers["traceparent"] = made;
  // What stood beside a header that is none is no part of the new trace (Trace Context, section 3.3).
  delete headers["tracestate"];
  return made;
}

/** The 32 digits in it, by which log lines of other processes are found. */
export function traceIdOf(request: Pick<IncomingMessage, "headers">): string {
  return traceParentOf(request).slice(3, 35);
}
