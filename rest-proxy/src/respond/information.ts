// Stage 5 of 5: respond. pipeline.ts passes this listener to fetches for one client only (writes, and reads whose responses are known not to be
// shared). Origin requests for several clients, or in the background, drop informational responses.
import type { ServerResponse } from "node:http";
import { splitLinks } from "@tributary/kit/http/raw-headers";
import type { InformationListener } from "@tributary/kit/upstream/transport";
import { isUnstarted } from "./problems.ts";

/**
 * Forwards a service's informational responses to the client (RFC 9110, section 15.2): 102, and 103 with its `Link` and no other
 * field. All others are dropped: Node has no method for them. A client of HTTP/1.0 gets none.
 */
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
      // Node rejects a `Link` with an invalid value: a hint is optional.
    }
  };
}
