// Stage 1 of 5: admit. Chooses the media type of the response (RFC 9110, section 12.5.1; GraphQL over HTTP, "Accept").
import { chooseMediaType } from "@tributary/kit/http/accept";
import { type ResponseType, responseTypes } from "../response.ts";

/** Undefined if the client accepts none, which the full path rejects with 406. */
export function preferResponseType(accept: string | undefined): ResponseType | undefined {
  return chooseMediaType(accept, responseTypes);
}

/** Of a browser that opens /graphql. */
export function prefersPage(accept: string | undefined): boolean {
  return accept !== undefined && chooseMediaType(accept, [...responseTypes, "text/html"]) === "text/html";
}
