// Stage 1 of 5: may you come in? A foreign page must not be able to send a request that a browser lets through unasked.
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "../errors/codes.ts";

/** Headers that a page cannot send across origins without a preflight; Apollo's clients send one of them. */
const preflightedHeaders = ["apollo-require-preflight", "x-apollo-operation-name"] as const;

/** Content types that a page may send without a preflight (Fetch Standard, "CORS-safelisted request-header"). */
const simpleTypes = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);

/**
 * For GET: only what a browser would have asked about first comes in, by a content type that is not a form's or by one of two
 * headers. A POST needs no more than its content type: what is not `application/json` is refused for that (see body.ts).
 * @throws Refusal CSRF_PREVENTED.
 */
export function refuseCrossSite(headers: IncomingHttpHeaders): void {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "" && !simpleTypes.has(type)) return;
  if (preflightedHeaders.some((name) => headers[name] !== undefined && headers[name] !== "")) return;
  throw new Refusal(
    "CSRF_PREVENTED",
    `Send one of the headers ${preflightedHeaders.join(", ")} with any value, or content-type: application/json.`,
  );
}
