// Whether a request may be executed by the setting `documents.mode`. Both paths call it before the document is looked up.
import type { Caller } from "@tributary/kit/caller/caller";
import type { GatewayExchange } from "../admit/exchange.ts";
import type { GraphqlRequest } from "../engine/parse/graphql-request.ts";
import type { TrustedDocument } from "../engine/parse/trusted-documents.ts";
import { Rejection } from "../errors/rejections.ts";

/** Undefined if it may. */
export function findTrustRejection(
  { settings, record, caller }: GatewayExchange,
  { document }: GraphqlRequest,
  documents: LoadedDocuments | undefined,
): Rejection | undefined {
  const mode = settings.documentsMode;
  const isTrusted = document !== undefined && (!settings.documentsOwnOnly || isOwn(document, caller?.client));
  if (record) {
    record.document = document;
    if (mode !== "off") record.isTrusted = isTrusted;
  }
  if (mode !== "enforce" || isTrusted) return undefined;
  return hasLoaded(documents) ? new Rejection("DOCUMENT_NOT_TRUSTED") : rejectNotLoaded();
}

/** Of an id without a document. Before a bundle is loaded it may be registered, and clients with ids have no text that they could send instead. */
export function rejectUnknownId(documents: LoadedDocuments | undefined): Rejection {
  return hasLoaded(documents) ? new Rejection("PERSISTED_QUERY_NOT_FOUND") : rejectNotLoaded();
}

interface LoadedDocuments {
  readonly loadedAtMs: number | undefined;
}

function hasLoaded(documents: LoadedDocuments | undefined): boolean {
  return documents?.loadedAtMs !== undefined;
}

function rejectNotLoaded(): Rejection {
  const message = "The gateway has not loaded the registered documents yet. Retry soon.";
  return new Rejection("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

/** Any client can claim a name that is not proven, or leave it out. */
function isOwn({ untilMsByClient }: TrustedDocument, client: Caller["client"] | undefined): boolean {
  if (client?.name === undefined || !client.isVerified) return true;
  return (untilMsByClient.get(client.name) ?? 0) > Date.now();
}
