// Stage 1 of 5: may you come in? Who reads the same request in two ways is not served.
import type { IncomingMessage } from "node:http";
import { Refusal } from "../errors.ts";

/** A request has one Host; before HTTP/1.1 it may have none (RFC 9112, section 3.2). Which one is nobody's business here. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

/** @throws Refusal MALFORMED_REQUEST, which closes the connection. */
export function requireHost(request: IncomingMessage): void {
  if (hasOneHost(request)) return;
  throw new Refusal("MALFORMED_REQUEST", "A request has one Host header.", { Connection: "close" });
}
