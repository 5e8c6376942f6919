// Whether a request may be executed by the setting `documents.mode`. Both paths call it before the document is looked up.
import type { GatewayExchange } from "../admit/exchange.ts";
import type { GraphqlRequest } from "../engine/parse/graphql-request.ts";
import { Rejection } from "../errors/rejections.ts";

/** Undefined if it may. */
export function findTrustRejection(
  { settings, record }: GatewayExchange,
  { document }: GraphqlRequest,
  documents: { readonly loadedAtMs: number | undefined } | undefined,
): Rejection | undefined {
  const mode = settings.documentsMode;
  if (record) {
    record.document = document;
    if (mode !== "off") record.isTrusted = document !== undefined;
  }
  if (mode !== "enforce" || document) return undefined;
  if (documents?.loadedAtMs === undefined) {
    const message = "The gateway has not loaded the registered documents yet. Retry soon.";
    return new Rejection("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
  }
  return new Rejection("DOCUMENT_NOT_TRUSTED");
}
