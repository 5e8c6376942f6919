// Stage 1 of 5: admit. Rejects GET requests that a page of another origin can make a browser send without a CORS preflight.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Cors } from "@tributary/kit/http/cors";
import { isJsonType } from "@tributary/kit/http/json-body";
import { listHeaderValues } from "@tributary/kit/http/raw-headers";
import { Rejection } from "../errors/rejections.ts";

export interface CsrfRules {
  /** In lower case. One of them permits a GET: a page cannot send it to another origin without a preflight. */
  readonly requiredHeaders: readonly string[];
  /** Whether a subgraph gets cookies. Then a page of another origin could read with those of its visitor. */
  readonly forwardsCookies: boolean;
}

export const defaultRequiredHeaders = ["apollo-require-preflight", "x-apollo-operation-name"];

/** Some browsers sent others without a preflight (GHSA-9q82-xgwf-vj6h). `headers` has only the first line. @throws Rejection */
export function rejectContentType({ rawHeaders }: IncomingMessage): void {
  const contentTypes = listHeaderValues(rawHeaders, "content-type");
  const isAccepted = contentTypes.length === 0 || (contentTypes.length === 1 && isJson(contentTypes[0]));
  if (isAccepted) return;
  throw new Rejection("UNSUPPORTED_MEDIA_TYPE", "A GET may have no content-type but application/json.");
}

/**
 * Accepts a content type, which `rejectContentType` has checked, one of the required headers, or `fetch` of an allowed page. Where cookies are
 * forwarded, the page must be of this or an allowed origin. @throws Rejection
 */
export function rejectCrossSite(
  { headers }: IncomingMessage,
  { requiredHeaders, forwardsCookies }: CsrfRules,
  cors: Cors,
): void {
  if (forwardsCookies && !isOfAllowedPage(headers, cors)) {
    const message =
      "Cookies are forwarded: a GET needs an allowed Origin, or Sec-Fetch-Site: same-origin. Send a POST.";
    throw new Rejection("CSRF_PREVENTED", message);
  }
  if (headers["content-type"] !== undefined) return;
  const hasRequiredHeader = requiredHeaders.some((name) => (headers[name] ?? "") !== "");
  if (hasRequiredHeader || isFetchOfAllowedPage(headers, cors)) return;
  throw new Rejection(
    "CSRF_PREVENTED",
    `Send the header ${requiredHeaders.join(" or ")} with any value but "", or content-type: application/json.`,
  );
}

/** Browsers set both headers, and pages cannot. */
function isOfAllowedPage(headers: IncomingHttpHeaders, cors: Cors): boolean {
  if (headers["sec-fetch-site"] === "same-origin") return true;
  return headers.origin !== undefined && cors.isAllowed(headers.origin);
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
