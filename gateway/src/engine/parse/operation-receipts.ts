// Stage 2 of 5: parse. Reads the receipts of earlier writes (kit/src/consistency/receipts.ts). A read with them joins no read that was sent before
// the write, and uses no older result of the entity cache.
import { AppError } from "@tributary/kit/errors/app-error";
import type { Receipts, ServiceWrite } from "@tributary/kit/consistency/receipts";
import { Rejection } from "../../errors/rejections.ts";
import type { GraphqlRequest } from "./graphql-request.ts";

export interface OperationReceipts {
  /** As the client sent them. */
  readonly text: string | undefined;
  readonly writes: readonly ServiceWrite[];
  /** The client, which may be unable to read headers, wants the receipt of its mutation also in `extensions.consistencyToken`. */
  readonly isExtensionWanted: boolean;
}

const noReceipts: OperationReceipts = { text: undefined, writes: [], isExtensionWanted: false };
const wrongTypeMessage = "`extensions.consistencyToken` must be true or the text of receipts.";

/**
 * In the header `Consistency-Token`, or as text in `extensions.consistencyToken`, which may also be `true`. Receipts do not expire.
 * @throws Rejection MALFORMED_REQUEST for receipts that are malformed, too many, too long, or that no known key decrypts.
 */
export function readOperationReceipts(
  receipts: Receipts,
  header: string | readonly string[] | undefined,
  { extensions }: GraphqlRequest,
): OperationReceipts {
  const extension = extensions?.["consistencyToken"] ?? false;
  if (typeof extension !== "boolean" && typeof extension !== "string")
    throw new Rejection("MALFORMED_REQUEST", wrongTypeMessage);
  if (header === undefined && extension === false) return noReceipts;
  // Node's type of a header allows a list.
  const texts = [header, extension].flat().filter((value) => typeof value === "string");
  const text = texts.length > 0 ? texts.join(", ") : undefined;
  try {
    return { text, writes: receipts.read(text), isExtensionWanted: extension !== false };
  } catch (error) {
    throw error instanceof AppError ? new Rejection("MALFORMED_REQUEST", error.message) : error;
  }
}
