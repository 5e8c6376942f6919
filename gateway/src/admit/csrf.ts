// Stage 1 of 5: admit. CSRF prevention: rejects GET requests that a page of another origin can make a browser send without a CORS preflight.
// Called by paths/full.ts.
import type { IncomingMessage } from "node:http";
import { isJsonType } from "@tributary/kit/http/json-body";
import { listHeaderValues } from "@tributary/kit/http/raw-headers";
import { Rejection } from "../errors/rejections.ts";

/** A page cannot send these headers to another origin without a preflight. Apollo's clients send one of them. */
const preflightedHeaders = ["apollo-require-preflight", "x-apollo-operation-name"] as const;

/**
 * Rejects a GET with another content type than `application/json`: some versions of a browser send it without a preflight
 * (GHSA-9q82-xgwf-vj6h). Reads `rawHeaders`, because `headers` has only the first of several lines.
 * @throws Rejection UNSUPPORTED_MEDIA_TYPE.
 */
export function rejectContentType({ rawHeaders }: IncomingMessage): void {
  const contentTypes = listHeaderValues(rawHeaders, "content-type");
  const isAccepted = contentTypes.length === 0 || (contentTypes.length === 1 && isJson(contentTypes[0]));
  if (isAccepted) return;
  throw new Rejection("UNSUPPORTED_MEDIA_TYPE", "A GET may have no content-type but application/json.");
}

/**
 * Accepts a GET that has a content type, which `rejectContentType` has checked, or one of `preflightedHeaders`, and rejects any other. A POST needs
 * no check here, since its content type must be `application/json` (body.ts).
 * @throws Rejection CSRF_PREVENTED.
 */
export function rejectCrossSite({ headers }: IncomingMessage): void {
  if (headers["content-type"] !== undefined) return;
  const hasPreflightedHeader = preflightedHeaders.some((name) => (headers[name] ?? "") !== "");
  if (hasPreflightedHeader) return;
  throw new Rejection(
    "CSRF_PREVENTED",
    `Send the header ${preflightedHeaders.join(" or ")} with any value but "", or content-type: application/json.`,
  );
}

function isJson(contentType: string | undefined): boolean {
  return isJsonType(contentType, ["application/json"]);
}
