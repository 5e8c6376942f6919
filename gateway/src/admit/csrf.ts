// Stage 1 of 5: admit. CSRF: a foreign page must not make a browser send a request that the browser would not preflight.
import type { IncomingHttpHeaders } from "node:http";
import { Rejection } from "../errors/rejections.ts";

/** A page cannot send these headers across origins without a preflight. Apollo's clients send one of them. */
const preflightedHeaders = ["apollo-require-preflight", "x-apollo-operation-name"] as const;

/** Content types that a page may send without a preflight (Fetch Standard, "CORS-safelisted request-header"). */
const simpleTypes = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);

/**
 * Rejects a GET that a browser sends without a preflight: it needs a content type that is not a form's, or one of two headers. A POST needs
 * no such check, since its content type must be `application/json` (body.ts).
 * @throws Rejection CSRF_PREVENTED.
 */
export function rejectCrossSite(headers: IncomingHttpHeaders): void {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "" && !simpleTypes.has(type)) return;
  if (preflightedHeaders.some((name) => headers[name] !== undefined && headers[name] !== "")) return;
  throw new Rejection(
    "CSRF_PREVENTED",
    `Send one of the headers ${preflightedHeaders.join(", ")} with any value, or content-type: application/json.`,
  );
}
