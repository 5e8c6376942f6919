// Stage 1 of 5: admit. CSRF prevention: rejects GET requests that a page of another origin can make a browser send without a CORS preflight.
// Called by paths/full.ts.
import type { IncomingHttpHeaders } from "node:http";
import { Rejection } from "../errors/rejections.ts";

/** A page cannot send these headers to another origin without a preflight. Apollo's clients send one of them. */
const preflightedHeaders = ["apollo-require-preflight", "x-apollo-operation-name"] as const;

/** Content types that a page may send without a preflight (Fetch Standard, "CORS-safelisted request-header"). */
const simpleTypes = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);

/**
 * Accepts a GET that has a content type outside `simpleTypes`, or one of `preflightedHeaders`, and rejects any other. A POST needs no check here,
 * since its content type must be `application/json` (body.ts).
 * @throws Rejection CSRF_PREVENTED.
 */
export function rejectCrossSite(headers: IncomingHttpHeaders): void {
  // Without parameters such as `charset`.
  const mediaType = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const hasPreflightedType = mediaType !== "" && !simpleTypes.has(mediaType);
  if (hasPreflightedType) return;
  const hasPreflightedHeader = preflightedHeaders.some((name) => (headers[name] ?? "") !== "");
  if (hasPreflightedHeader) return;
  throw new Rejection(
    "CSRF_PREVENTED",
    `Send the header ${preflightedHeaders.join(" or ")} with any value but "", or content-type: application/json.`,
  );
}
