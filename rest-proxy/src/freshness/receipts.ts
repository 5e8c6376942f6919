/** Receipts of writes (kit/src/consistency/receipts.ts) in requests and responses: with one, a client reads nothing that is older than its write. */
import type { IncomingMessage } from "node:http";
import { receiptHeader, type Receipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import { readWritePosition } from "@tributary/kit/feed/position";
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { CacheLookup, OriginResponse } from "../cache/cache-request.ts";
import type { Feeds } from "./feeds.ts";

/** The receipts of one request. */
export interface RequestReceipts {
  /** Of all services. */
  readonly writes: readonly ServiceWrite[];
  /** Those to the service of the request whose changes have not reached the cache: no stored response may be sent without a wait. */
  readonly unknownWrites: readonly ServiceWrite[];
}

const none: RequestReceipts = { writes: [], unknownWrites: [] };
const requestHeader = receiptHeader.toLowerCase();

/** @throws AppError MALFORMED_REQUEST for receipts that cannot be read. */
export function readRequestReceipts(
  { headers }: IncomingMessage,
  service: string,
  { receipts, feeds }: { readonly receipts: Receipts; readonly feeds: Pick<Feeds, "knows"> },
): RequestReceipts {
  const text = headers[requestHeader];
  if (text === undefined) return none;
  const writes = receipts.read(text);
  return { writes, unknownWrites: writes.filter((write) => write.service === service && !feeds.knows(write)) };
}

/** A change takes some milliseconds from the commit to the cache. */
const waitMsMax = 50;

/**
 * Waits until the changes of these writes have reached the cache. If they do not in time, the origin has to respond.
 * @param timeoutMs of the request: a tenth of it is the limit, if that is shorter.
 */
export async function awaitWrites(
  lookup: CacheLookup,
  unknownWrites: readonly ServiceWrite[],
  { feeds, timeoutMs }: { readonly feeds: Pick<Feeds, "waitFor">; readonly timeoutMs: number },
): Promise<CacheLookup> {
  if (unknownWrites.length === 0) return lookup;
  const limitMs = Math.min(waitMsMax, timeoutMs / 10);
  const known = await Promise.all(unknownWrites.map((write) => feeds.waitFor(write, limitMs)));
  return known.every(Boolean) ? lookup : { ...lookup, demandsOrigin: true };
}

/** Replaces the position of a write, which the service has sent, by a receipt for the client. A read gets none. */
export function toReceipt(
  response: OriginResponse,
  {
    service,
    known,
    isRead,
  }: { readonly service: string; readonly known: readonly ServiceWrite[]; readonly isRead: boolean },
  receipts: Receipts,
): OriginResponse {
  const text = findHeader(response.headers, writePositionHeader);
  if (text === undefined) return response;
  const headers = withoutHeaders(response.headers, (name) => name === writePositionHeader);
  const position = readWritePosition(text);
  if (position && !isRead) headers.push(receiptHeader, receipts.write(known, [{ service, ...position }]));
  return { ...response, headers };
}
