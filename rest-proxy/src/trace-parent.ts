import type { IncomingMessage } from "node:http";
import { createTraceParent, isTraceParent, readTraceContext } from "@tributary/kit/trace-context";

/**
 * The `traceparent` of a request that is not recorded here, for its service and its response: the client's, else a new one. A new one replaces
 * the header, so that later calls return the same.
 */
export function traceParentOf({ headers }: Pick<IncomingMessage, "headers">): string {
  if (isTraceParent(headers["traceparent"])) return headers["traceparent"];
  const made = createTraceParent(readTraceContext(undefined));
  headers["traceparent"] = made;
  // The state belongs to the trace of the invalid header (Trace Context, section 3.3).
  delete headers["tracestate"];
  return made;
}

/** The trace id in it: log lines of other processes have the same. */
export function traceIdOf(request: Pick<IncomingMessage, "headers">): string {
  return traceParentOf(request).slice(3, 35);
}
