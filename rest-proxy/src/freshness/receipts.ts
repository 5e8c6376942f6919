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

export interface RequestReceipts {
  readonly writes: readonly ServiceWrite[];
  readonly serviceWrites: readonly ServiceWrite[];
}

export interface ReceiptRules {
  /** @throws AppError MALFORMED_REQUEST for receipts that cannot be read. */
  read(request: Pick<IncomingMessage, "headers">, service: string): RequestReceipts;
  /** Until the feed has delivered a write, only to responses that were requested after the write's first receipt. */
  limit(lookup: CacheLookup, receipts: RequestReceipts): CacheLookup;
  /** @returns the lookup without `sentAfter` if the changes have arrived in time; else the origin has to respond. */
  awaitChanges(lookup: CacheLookup, receipts: RequestReceipts): Promise<CacheLookup>;
}

export interface ReceiptRulesOptions {
  readonly receipts: Receipts;
  readonly feeds: Pick<Feeds, "knows" | "waitFor">;
  readonly cache: Pick<SharedCache, "hasFresh" | "mark">;
  /** Of a request to a service; the wait is at most a tenth of it, and at most 50 ms. */
  readonly timeoutMs: number;
}

const noReceipts: RequestReceipts = { writes: [], serviceWrites: [] };
const requestHeader = receiptHeader.toLowerCase();
/** An evicted write's next receipt counts as its first, which costs a request to the origin. */
const marksMax = 10_000;

export function createReceiptRules({ receipts, feeds, cache, timeoutMs }: ReceiptRulesOptions): ReceiptRules {
  /** The cache's mark when the first receipt of a write arrived. Responses requested later include the write. */
  const marks = createBoundedMap<number>({ entriesMax: marksMax });

  function markOf({ service, epoch, xid }: ServiceWrite): number {
    const writeKey = `${service} ${epoch} ${xid}`;
    const existingMark = marks.get(writeKey);
    if (existingMark !== undefined) return existingMark;
    const newMark = cache.mark();
    marks.set(writeKey, newMark);
    return newMark;
  }

  return {
    read({ headers }, service) {
      const headerValue = headers[requestHeader];
      if (headerValue === undefined) return noReceipts;
      const writes = receipts.read(headerValue);
      return { writes, serviceWrites: writes.filter((write) => write.service === service) };
    },
    limit(lookup, { serviceWrites }) {
      if (serviceWrites.length === 0) return lookup;
      const unknownWrites = serviceWrites.filter((write) => !feeds.knows(write));
      const sentAfter = unknownWrites.length === 0 ? undefined : Math.max(...unknownWrites.map(markOf));
      return { ...lookup, sentAfter, forbidsStale: true };
    },
    async awaitChanges(lookup, { serviceWrites }) {
      const unlimited = { ...lookup, sentAfter: undefined };
      if (lookup.sentAfter === undefined || !cache.hasFresh(unlimited)) return lookup;
      const haveArrived = await feeds.waitFor(serviceWrites, timeoutMs);
      return haveArrived ? unlimited : lookup;
    },
  };
}

interface WriteContext {
  readonly service: string;
  readonly earlierWrites: readonly ServiceWrite[];
  readonly isRead: boolean;
}

/** The receipt names this write and, of `earlierWrites`, those to other services. A read gets none. */
export function replaceWritePosition(
  response: OriginResponse,
  { service, earlierWrites, isRead }: WriteContext,
  receipts: Receipts,
): OriginResponse {
  const headerValue = findHeader(response.headers, writePositionHeader);
  if (headerValue === undefined) return response;
  const headers = withoutHeaders(response.headers, (name) => name === writePositionHeader);
  const position = readWritePosition(headerValue);
  if (position && !isRead) headers.push(receiptHeader, receipts.write(earlierWrites, [{ service, ...position }]));
  return { ...response, headers };
}
