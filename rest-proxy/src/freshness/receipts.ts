/** Receipts of writes (kit/src/consistency/receipts.ts) in requests and responses: with one, a client reads nothing that is older than its write. */
import type { IncomingMessage } from "node:http";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { receiptHeader, type Receipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import type { Feeds } from "@tributary/kit/consistency/feeds";
import { readWritePosition } from "@tributary/kit/feed/position";
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import type { CacheLookup, OriginResponse } from "../cache/cache-request.ts";
import type { SharedCache } from "../cache/shared-cache.ts";

/** The receipts of one request. */
export interface RequestReceipts {
  /** Of all services. */
  readonly writes: readonly ServiceWrite[];
  /** Those to the service of the request. */
  readonly serviceWrites: readonly ServiceWrite[];
}

/** How receipts limit which stored responses a client gets. */
export interface ReceiptRules {
  /** @throws AppError MALFORMED_REQUEST for receipts that cannot be read. */
  read(request: Pick<IncomingMessage, "headers">, service: string): RequestReceipts;
  /** Limits the lookup to responses that include the writes: if these are unknown here, to responses requested from the origin from now on. */
  limit(lookup: CacheLookup, receipts: RequestReceipts): CacheLookup;
  /**
   * If there is a fresh response which may not include the writes, waits until their changes have reached the cache and decide that.
   * @param lookup from `limit`.
   * @returns the lookup without the limit if they have; else the origin has to respond.
   */
  awaitChanges(lookup: CacheLookup, receipts: RequestReceipts): Promise<CacheLookup>;
}

export interface ReceiptRulesOptions {
  readonly receipts: Receipts;
  readonly feeds: Pick<Feeds, "knows" | "waitFor">;
  readonly cache: Pick<SharedCache, "hasFresh" | "mark">;
  /** Of a request. */
  readonly timeoutMs: number;
}

const none: RequestReceipts = { writes: [], serviceWrites: [] };
const requestHeader = receiptHeader.toLowerCase();
/** Writes whose first receipt is remembered. Of a forgotten one, the next receipt counts as the first, which costs a request to the origin. */
const marksMax = 10_000;

export function createReceiptRules({ receipts, feeds, cache, timeoutMs }: ReceiptRulesOptions): ReceiptRules {
  /** When the first receipt of each unknown write arrived here. The write was committed before, so later responses of the origin include it. */
  const marks = createBoundedMap<number>({ entriesMax: marksMax });

  function markOf({ service, epoch, xid }: ServiceWrite): number {
    const name = `${service} ${epoch} ${xid}`;
    const known = marks.get(name);
    if (known !== undefined) return known;
    const mark = cache.mark();
    marks.set(name, mark);
    return mark;
  }

  return {
    read({ headers }, service) {
      const text = headers[requestHeader];
      if (text === undefined) return none;
      const writes = receipts.read(text);
      return { writes, serviceWrites: writes.filter((write) => write.service === service) };
    },
    limit(lookup, { serviceWrites }) {
      if (serviceWrites.length === 0) return lookup;
      const unknown = serviceWrites.filter((write) => !feeds.knows(write));
      const sentAfter = unknown.length === 0 ? undefined : Math.max(...unknown.map(markOf));
      return { ...lookup, sentAfter, forbidsStale: true };
    },
    async awaitChanges(lookup, { serviceWrites }) {
      const unlimited = { ...lookup, sentAfter: undefined };
      if (lookup.sentAfter === undefined || !cache.hasFresh(unlimited)) return lookup;
      return (await feeds.waitFor(serviceWrites, timeoutMs)) ? unlimited : lookup;
    },
  };
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
