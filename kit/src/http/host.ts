import type { IncomingMessage } from "node:http";

/** Whether a request has exactly one `Host`, or in HTTP/1.0 at most one (RFC 9112, 3.2). Node keeps the first of several in `headers`. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}
