// Stage 1 of 5: admit. Chooses the media type of the response (RFC 9110, section 12.5.1; GraphQL over HTTP, "Accept"). Called by both paths, and by
// server.ts for GraphiQL.
import { chooseMediaType } from "@tributary/kit/http/accept";
import { type ResponseType, responseTypes } from "../response.ts";

/**
 * The GraphQL media type with the highest quality in `Accept`; of equal ones the more specific, then the first in `Accept`. Undefined if the client
 * accepts none, which the full path rejects with 406.
 */
export function preferResponseType(accept: string | undefined): ResponseType | undefined {
  return chooseMediaType(accept, responseTypes);
}

/** Whether the client prefers HTML to JSON: a browser that opens /graphql. */
export function prefersPage(accept: string | undefined): boolean {
  return accept !== undefined && chooseMediaType(accept, [...responseTypes, "text/html"]) === "text/html";
}
