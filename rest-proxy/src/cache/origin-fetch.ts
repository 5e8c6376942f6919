/**
 * Fetches one `GET` from the origin, writes the response to the client, and stores it if the policy permits. `read.ts` calls it for one client
 * (`fetchAlone`), for several (`fetchShared`) or in the background (`refresh`). Read `CacheFetcher.fetch` first.
 */
import type { ServerResponse } from "node:http";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { dropBody, relayBody } from "./body-relay.ts";
import type {
  CacheLookup,
  CacheObservation,
  ForwardReason,
  OriginFetch,
  OriginFetchers,
  OriginResponse,
} from "./cache-request.ts";
import type { FetchOutcome } from "./coalescing.ts";
import { confirmsStored, hasStrongEtag, isCondition, isNotModified, validationConditions } from "./conditional.ts";
import { type Entry, isFresh, isSentAfter, type SentRead, type StoredHead, toEntry, toStoredHead } from "./entry.ts";
import { createFreshening, type FresheningOptions } from "./freshening.ts";
import { startRead } from "./invalidation.ts";
import {
  type AddHeaders,
  createCachedResponse,
  forwardedStatus,
  writeCachedResponse,
  writeOriginHead,
  writeStale,
} from "./write-response.ts";
import type { StaleRules } from "./reuse-rules.ts";
import type { TtlSet } from "@tributary/kit/collections/ttl-set";

/** One `GET` to send to the origin. */
export interface OriginRead {
  readonly lookup: CacheLookup;
  readonly fetchers: OriginFetchers;
  readonly fetch: OriginFetch;
  readonly signal: AbortSignalLike;
  /** The stored response to validate, if any. */
  readonly entry: Entry | undefined;
  /** Whether the client's own conditions (`If-None-Match`, …) are sent if there is no `entry`. With an entry, only its conditions are sent. */
  readonly withConditions: boolean;
  /** A client's `no-cache` caused the request. */
  readonly isValidation: boolean;
}

/** One `GET` to send to the origin, and what happens to the response. */
export interface CacheFetch extends OriginRead {
  /** The client's; undefined for a background refresh. */
  readonly response: ServerResponse | undefined;
  readonly addHeaders: AddHeaders;
  readonly forwarded: ForwardReason;
  /** Whether another client still needs the whole body. */
  readonly isWanted: () => boolean;
  /** Called with the cache groups of the response once its head is received. */
  readonly onHead?: (groups: readonly string[]) => void;
  /** Called with what the waiting clients may use. May be called more than once: only the first call counts. */
  readonly onOutcome?: (outcome: FetchOutcome) => void;
}

export interface CacheFetchOptions extends FresheningOptions {
  readonly name: string;
  readonly entryBytesMax: number;
  /** Bodies that are collected for the store at once. */
  readonly collectingMax: number;
  readonly stale: StaleRules;
  /** Keys whose last response could not be shared: requests for them do not wait for one another. */
  readonly unshared: TtlSet;
  readonly nowMs: () => number;
  readonly observe: (observation: CacheObservation) => void;
}

/** How long a key counts as unshared, unless a response that can be shared arrives before. */
const unsharedMs = 30_000;

export class CacheFetcher {
  readonly #options: CacheFetchOptions;
  readonly #send: (read: OriginRead) => Promise<OriginResult>;
  /** The number of bodies that are being collected for the store. */
  #collecting = 0;

  constructor(options: CacheFetchOptions) {
    this.#options = options;
    this.#send = createReadSender(options);
  }

  /**
   * Resolves when the response is written.
   * @throws the error of the origin fetch, unless a stored response is sent instead; Error for a truncated response.
   */
  async fetch(cacheFetch: CacheFetch): Promise<void> {
    const sentAtMs = this.#options.nowMs();
    let result: OriginResult;
    try {
      result = await this.#send(cacheFetch);
    } catch (error) {
      if (cacheFetch.signal.aborted) throw error;
      if (!this.#useStaleOnError(cacheFetch, sentAtMs, undefined)) throw error;
      return;
    }
    if (result.kind === "validated") return this.#respondValidated(cacheFetch, result);
    const { response } = result;
    if (this.#useStaleOnError(cacheFetch, sentAtMs, response.status)) return dropBody(response.body);
    await this.#respondFetched(cacheFetch, result);
  }

  /**
   * Sends the stored entry instead of an error (RFC 5861, 4), if the origin permits it and the entry is still in the store.
   * @param status of the origin's response; undefined without a response.
   * @returns false if the client gets the origin's response or the error. Always false for a status that is not an error.
   */
  #useStaleOnError(cacheFetch: CacheFetch, sentAtMs: number, status: number | undefined): boolean {
    const { entry, response, lookup, addHeaders, onOutcome } = cacheFetch;
    const { stale, store, observe } = this.#options;
    if (!entry || !stale.mayOnError(entry, status)) return false;
    if (!store.variants(entry.key).includes(entry)) return false;
    stale.noteError(entry, sentAtMs);
    // Called even if this client gets the error below: other waiting clients may accept the stale entry.
    onOutcome?.({ entry, isStale: true });
    if (!acceptsStale(lookup, entry)) return false;
    observe({ kind: "stale", because: "if-error" });
    if (response) writeStale(this.#options, response, lookup.request, entry, addHeaders);
    return true;
  }

  #respondValidated(cacheFetch: CacheFetch, { entry, isStored }: ValidatedResult): void {
    const { response, lookup, addHeaders, forwarded, onOutcome } = cacheFetch;
    const { name, nowMs, observe } = this.#options;
    const isShareable = isStored && isFresh(entry, nowMs());
    // Undefined: each waiting client sends its own request.
    onOutcome?.(isShareable ? { entry, isStale: false } : undefined);
    observe({ kind: "revalidated" });
    if (!response) return;
    const cacheStatus = forwardedStatus(name, { forwarded, status: 304, isStored });
    writeCachedResponse(response, createCachedResponse(entry, lookup.request, nowMs(), cacheStatus), addHeaders);
  }

  async #respondFetched(cacheFetch: CacheFetch, { response, head, sent }: FetchedResult): Promise<void> {
    const { lookup, forwarded, entry: oldEntry, response: clientResponse, onHead, onOutcome } = cacheFetch;
    const { store, invalidationLog, entryBytesMax, collectingMax, nowMs, observe, name } = this.#options;
    const fittingHead = mayFit(response, entryBytesMax) ? head : undefined;
    // Undefined if the body is only relayed: the response must not be stored, or does not fit, or too many bodies are being collected.
    const headToStore = this.#collecting < collectingMax ? fittingHead : undefined;
    const isOutdated = () => invalidationLog.isOutdated(sent, headToStore?.groups);
    onHead?.(headToStore?.groups ?? []);
    const isShareable = fittingHead !== undefined && isFresh(fittingHead, nowMs());
    this.#recordShareability(cacheFetch, response.status, isShareable);
    if (!headToStore) onOutcome?.(undefined);
    if (oldEntry && outdatesEntry(response.status, lookup)) store.remove(oldEntry);
    observe({ kind: "miss" });
    // `Cache-Status` is sent before the body, so a body that turns out too long, or a later change, can still prevent storing.
    const isStored = headToStore !== undefined && !isOutdated();
    const cacheStatus = forwardedStatus(name, { forwarded, status: response.status, isStored });
    const client = clientResponse && this.#writeHead(cacheFetch, clientResponse, response, head, cacheStatus);
    const body = await this.#relay(cacheFetch, response, client, headToStore !== undefined);
    if (!body || !headToStore) return;
    const entry = toEntry(sent, headToStore, body);
    if (!isOutdated()) store.put(entry);
    // Called even if a change has outdated the entry: all waiting clients joined before the change (`SharedFetches.find`).
    onOutcome?.({ entry, isStale: false });
  }

  /** @returns the body if it was collected for the store, see `relayBody`. */
  async #relay(
    cacheFetch: CacheFetch,
    { body, status }: OriginResponse,
    client: ServerResponse | undefined,
    isCollected: boolean,
  ): Promise<Buffer | undefined> {
    const { isWanted } = cacheFetch;
    if (!isCollected) return relayBody(body, { client, bytesMax: 0, isWanted });
    this.#collecting++;
    try {
      const onTooLong = () => this.#recordShareability(cacheFetch, status, false);
      return await relayBody(body, { client, bytesMax: this.#options.entryBytesMax, isWanted, onTooLong });
    } finally {
      this.#collecting--;
    }
  }

  /**
   * Records whether responses for this key can be shared, for later requests (`unshared`). If not, each client that waits for this response sends
   * its own request.
   */
  #recordShareability({ lookup, onOutcome }: CacheFetch, status: number, isShareable: boolean): void {
    const { unshared } = this.#options;
    if (isShareable) return unshared.delete(lookup.key);
    // Not conclusive: errors, which are temporary; a 304, which is not a whole response; a response to a token, which anonymous clients do not get.
    const isConclusive = status < 500 && status !== 304 && lookup.request.headers["authorization"] === undefined;
    if (isConclusive) unshared.add(lookup.key, unsharedMs);
    onOutcome?.(undefined);
  }

  /**
   * Writes the head of the fetched response, or a 304 if the client's own conditions, which were not sent to the origin, match that response.
   * @returns the client, which gets the body next; undefined after a 304.
   */
  #writeHead(
    { lookup, addHeaders }: CacheFetch,
    client: ServerResponse,
    response: OriginResponse,
    head: StoredHead | undefined,
    cacheStatus: string,
  ): ServerResponse | undefined {
    const { nowMs } = this.#options;
    if (head?.status === 200 && isNotModified(lookup.request.headers, head.validators, nowMs())) {
      const headers = [...head.notModifiedHeaders, "Cache-Status", cacheStatus];
      writeCachedResponse(client, { status: 304, headers, body: undefined }, addHeaders);
      return undefined;
    }
    writeOriginHead(client, response, cacheStatus, addHeaders);
    return client;
  }
}

/** Whether the client accepts this response although it is stale, if the origin permits it. */
export function acceptsStale({ forbidsStale, sentAfter }: CacheLookup, entry: Entry): boolean {
  return !forbidsStale && isSentAfter(entry, sentAfter);
}

/** Client errors which mean that anonymous clients cannot read the resource (any more). Others, such as 429, concern one request. */
const unreadableStatuses: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** Whether the response means that the stored one is no longer valid. A client error in response to a token may concern only the token's owner. */
function outdatesEntry(status: number, { request }: CacheLookup): boolean {
  if (status < 400) return true;
  return unreadableStatuses.has(status) && request.headers["authorization"] === undefined;
}

function mayFit({ headers }: OriginResponse, bytesMax: number): boolean {
  const length = findHeader(headers, "content-length");
  return length === undefined || Number(length) <= bytesMax;
}

type OriginResult = ValidatedResult | FetchedResult;

/** The origin confirmed the stored response by a 304. */
interface ValidatedResult {
  readonly kind: "validated";
  /** The stored response with the headers of the 304. */
  readonly entry: Entry;
  readonly isStored: boolean;
}

/** The origin sent another response than the stored one, or none was stored. */
interface FetchedResult {
  readonly kind: "fetched";
  readonly response: OriginResponse;
  /** Undefined if the response must not be stored. */
  readonly head: StoredHead | undefined;
  readonly sent: SentRead;
}

/** Whether a 304 to the conditions of the entry proves that the entry is as new as the client demands (`hasStrongEtag`). */
function canConfirm(entry: Entry, { sentAfter }: CacheLookup): boolean {
  return hasStrongEtag(entry.validators) || isSentAfter(entry, sentAfter);
}

/** Sends one `GET` to the origin. A 304 to the cache's own conditions freshens the entry (RFC 9111, 4.3.3 and 4.3.4). */
function createReadSender(options: CacheFetchOptions): (read: OriginRead) => Promise<OriginResult> {
  const { invalidationLog, nowMs, targetedFields } = options;
  const freshen = createFreshening(options);

  return async (read) => {
    const { lookup, signal, fetch, fetchers, entry } = read;
    const requestedAtMs = nowMs();
    const sent = startRead(invalidationLog, lookup, read.isValidation ? requestedAtMs : undefined);
    const conditions = entry && canConfirm(entry, lookup) ? validationConditions(entry.headers) : [];
    const sendsClientConditions = !entry && read.withConditions;
    const headers = sendsClientConditions
      ? fetchers.headers
      : [...withoutHeaders(fetchers.headers, isCondition), ...conditions];
    const response = await fetch({ method: "GET", headers, signal });
    const wasAuthorized = lookup.request.headers["authorization"] !== undefined;
    const { varyValueOf, heuristicSecondsMax } = lookup;
    const received = { requestedAtMs, receivedAtMs: nowMs(), wasAuthorized, varyValueOf, heuristicSecondsMax };
    const is304 = response.status === 304;
    // A 304 to a request without conditions of the cache does not confirm the entry.
    if (is304 && entry && conditions.length > 0) {
      dropBody(response.body);
      // A 304 with another ETag than the entry's updates nothing (RFC 9111, 4.3.4). The client gets the entry, whose validators the origin accepted.
      if (!confirmsStored(response.headers, entry.headers)) return { kind: "validated", entry, isStored: true };
      const freshened = freshen(entry, response.headers, { ...received, sent });
      return { kind: "validated", entry: freshened.entry, isStored: freshened.isStored };
    }
    // A 304 to the client's own conditions is about the client's stored response, so there is nothing to store.
    if (is304 && sendsClientConditions) return { kind: "fetched", response, head: undefined, sent };
    const head = toStoredHead({ status: response.status, headers: response.headers, ...received }, targetedFields);
    return { kind: "fetched", response, head, sent };
  };
}
