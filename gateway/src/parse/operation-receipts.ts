// Stage 2 of 5: parse. Reads the receipts of earlier writes that a client sends (kit/src/consistency/receipts.ts), for pipeline.ts. Services read from
// their primary database, so reads follow only two rules: they join no read that was sent before the write (run/fetch/fetch-sharing.ts), and use no older
// result of the entity cache (run/fetch/cached-fetch.ts).
import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { receiptHeader, type Receipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import { Rejection } from "../errors/rejections.ts";
import type { GraphqlRequest } from "./graphql-request.ts";

/** The receipts of a request. */
export interface OperationReceipts {
  /** As the client sent them; undefined without receipts. */
  readonly text: string | undefined;
  readonly writes: readonly ServiceWrite[];
  /** True if the client, which may be unable to read headers, wants the receipt of its mutation also in `extensions.consistencyToken`. */
  readonly isExtensionWanted: boolean;
}

const noReceipts: OperationReceipts = { text: undefined, writes: [], isExtensionWanted: false };
const headerName = receiptHeader.toLowerCase();
const wrongTypeMessage = "`extensions.consistencyToken` must be true or the text of receipts.";

/**
 * Reads the receipts of a request: in the header `Consistency-Token`, or as text in `extensions.consistencyToken`, which may also be `true`.
 * @throws Rejection MALFORMED_REQUEST for receipts that are malformed, too many, too long, or that no known key decrypts.
 * Receipts do not expire.
 */
export function readOperationReceipts(
  receipts: Receipts,
  { headers }: IncomingMessage,
  { extensions }: GraphqlRequest,
): OperationReceipts {
  const header = headers[headerName];
  const extension = extensions?.["consistencyToken"] ?? false;
  if (typeof extension !== "boolean" && typeof extension !== "string")
    throw new Rejection("MALFORMED_REQUEST", wrongTypeMessage);
  if (header === undefined && extension === false) return noReceipts;
  // Node's type of a header allows a list, which `flat` resolves. The filter leaves out a missing header and a Boolean extension.
  const texts = [header, extension].flat().filter((value) => typeof value === "string");
  const text = texts.length > 0 ? texts.join(", ") : undefined;
  try {
    return { text, writes: receipts.read(text), isExtensionWanted: extension !== false };
  } catch (error) {
    throw error instanceof AppError ? new Rejection("MALFORMED_REQUEST", error.message) : error;
  }
}
