// Stage 5 of 5: respond.
import type { ServerResponse } from "node:http";
import { splitLinks } from "@tributary/kit/http/raw-headers";
import type { InformationListener } from "@tributary/kit/upstream/transport";
import { isUnstarted } from "./problems.ts";

/** Forwards 102, and 103 with its `Link` only (RFC 9110, section 15.2): Node has no method for others. A client of HTTP/1.0 gets none. */
export function createInformationForwarder(response: ServerResponse): InformationListener {
  return (status, { link = [] }) => {
    if (response.req.httpVersion === "1.0" || !isUnstarted(response)) return;
    if (status === 102) return response.writeProcessing();
    if (status !== 103) return;
    const lines: readonly string[] = typeof link === "string" ? [link] : link;
    const links = lines.flatMap(splitLinks);
    try {
      response.writeEarlyHints({ link: links });
    } catch {
      // A hint is optional: Node rejects an invalid `Link`.
    }
  };
}
