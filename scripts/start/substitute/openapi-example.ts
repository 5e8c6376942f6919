import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { sample } from "openapi-sampler";
import { entriesOf, memberOf, resolveReference } from "../../../supergraph/contract/json-members.ts";

/** The first example of a media type of an OpenAPI document, or a value made from its schema; null without either. */
export function exampleOf(media: unknown, document: Json, { ofRequest = false } = {}): unknown {
  const [named] = entriesOf(memberOf(media, "examples"));
  const schema = memberOf(media, "schema");
  const options = { quiet: true, skipReadOnly: ofRequest };
  const made = () => (isJsonObject(schema) ? sample(schema, options, document) : null);
  return memberOf(media, "example") ?? memberOf(resolveReference(document, named?.[1]), "value") ?? made();
}
