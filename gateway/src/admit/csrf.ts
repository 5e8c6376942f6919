// Stage 1 of 5: admit. Rejects GET requests that a page of another origin can make a browser send without a CORS preflight.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Cors } from "@tributary/kit/http/cors";
import { isJsonType } from "@tributary/kit/http/json-body";
import { listHeaderValues } from "@tributary/kit/http/raw-headers";
import { Rejection } from "../errors/rejections.ts";

/** A page cannot send these headers to another origin without a preflight. */
const preflightedHeaders = ["apollo-require-preflight", "x-apollo-operation-name"] as const;

/** Some browsers sent others without a preflight (GHSA-9q82-xgwf-vj6h). `headers` has only the first line. @throws Rejection */
export function rejectContentType({ rawHeaders }: IncomingMessage): void {
  const contentTypes = listHeaderValues(rawHeaders, "content-type");
  const isAccepted = contentTypes.length === 0 || (contentTypes.length === 1 && isJson(contentTypes[0]));
  if (isAccepted) return;
  throw new Rejection("UNSUPPORTED_MEDIA_TYPE", "A GET may have no content-type but application/json.");
}

/** Accepts a content type, which `rejectContentType` has checked, one of `preflightedHeaders`, or `fetch` of an allowed page. @throws Rejection */
export function rejectCrossSite({ headers }: IncomingMessage, cors: Cors): void {
  if (headers["content-type"] !== undefined) return;
  const hasPreflightedHeader = preflightedHeaders.some((name) => (headers[name] ?? "") !== "");
  if (hasPreflightedHeader || isFetchOfAllowedPage(headers, cors)) return;
  throw new Rejection(
    "CSRF_PREVENTED",
    `Send the header ${preflightedHeaders.join(" or ")} with any value but "", or content-type: application/json.`,
  );
}

/**
 * Browsers set these headers, and pages cannot: `fetch` has the mode `cors`, and an `Origin` if its page is of another origin. Images, forms and
 * scripts of another origin have another mode (Fetch Standard, "Origin header"; Fetch Metadata). Node's `fetch` sends the mode, too.
 */
function isFetchOfAllowedPage(headers: IncomingHttpHeaders, cors: Cors): boolean {
  const { origin } = headers;
  return origin === undefined ? headers["sec-fetch-mode"] === "cors" : cors.isAllowed(origin);
}

function isJson(contentType: string | undefined): boolean {
  return isJsonType(contentType, ["application/json"]);
}
