import type { IncomingMessage } from "node:http";
import { listHeaderValues } from "./raw-headers.ts";

/** RFC 9112, 3.2; HTTP/1.0 needs none. Node keeps the first of several in `headers`. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hostCount = listHeaderValues(rawHeaders, "host").length;
  return hostCount === 1 || (hostCount === 0 && httpVersion === "1.0");
}
