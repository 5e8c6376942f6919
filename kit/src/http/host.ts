import type { IncomingMessage } from "node:http";
import { listHeaderValues } from "./raw-headers.ts";

/** Whether a request has exactly one `Host`, or in HTTP/1.0 at most one (RFC 9112, 3.2). Node keeps the first of several in `headers`. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hostCount = listHeaderValues(rawHeaders, "host").length;
  return hostCount === 1 || (hostCount === 0 && httpVersion === "1.0");
}
