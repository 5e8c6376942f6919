/** Fetches one `GET` from the origin, writes the response to the client, and stores it if the policy permits. */
import type { ServerResponse } from "node:http";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { findHeader, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { dropBody, relayBody } from "./body-relay.ts";
import type { CacheLookup, CacheObservation, ForwardReason, OriginResponse } from "./cache-request.ts";
import type { FetchOutcome } from "./coalescing.ts";
import { confirmsStored, hasStrongEtag, isCondition, isNotModified, validationConditions } from "./conditional.ts";
import { type Entry, isFresh, isSentAfter, type SentRead, type StoredHead, toEntry, toStoredHead } from "./entry.ts";
import { createFreshening, type FresheningOptions } from "./freshening.ts";
import { startRead } from "./invalidation.ts";
import {
  type CacheExchange,
  createCachedResponse,
  forwardedStatus,
  writeCachedResponse,
  writeOriginHead,
  writeStale,
} from "./write-response.ts";
import type { StaleRules } from "./reuse-rules.ts";
import type { TtlSet } from "@tributary/kit/collections/ttl-set";

export interface MissOrRefresh extends Omit<CacheExchange, "response"> {
  /** Undefined for a background refresh, and once the client has left at its deadline. */
  response: ServerResponse | undefined;
  /** Stale, or does not meet the client's demands. */
  readonly entry: Entry | undefined;
  readonly forwarded: ForwardReason;
  /** See `mustValidate`. */
  readonly isValidation: boolean;
  readonly isBackground?: boolean;
}

export interface CacheFetch extends MissOrRefresh {
  readonly signal: AbortSignalLike;
  /** Whether the client's own conditions are sent if there is no `entry`. */
  readonly withConditions: boolean;
  readonly isWanted: () => boolean;
  readonly onHead?: (groups: readonly string[]) => void;
  /** What the waiting clients may use. Only the first call counts. */
  readonly onOutcome?: (outcome: FetchOutcome) => void;
}

export interface CacheFetchOptions extends FresheningOptions {
  readonly name: string;
  readonly entryBytesMax: number;
  readonly collectingMax: number;
  readonly stale: StaleRules;
  /** Keys whose last response could not be shared. */
  readonly unshared: TtlSet;
  readonly nowMs: () => number;
  readonly observe: (observation: CacheObservation) => void;
}

const unsharedMs = 30_000;

export class CacheFetcher {
  readonly #options: CacheFetchOptions;
  readonly #send: (read: CacheFetch) => Promise<OriginResult>;
  #collecting = 0;

  constructor(options: CacheFetchOptions) {
    this.#options = options;
    this.#send = createReadSender(options);
  }

  /** @throws the error of the origin fetch, unless a stored response is sent instead; Error for a truncated response. */
  async fetch(cacheFetch: CacheFetch): Promise<void> {
    const sentAtMs = this.#options.nowMs();
    let result: OriginResult;
    try {
      result = await this.#send(cacheFetch);
    } catch (error) {
      if (cacheFetch.signal.aborted) throw error;
      const isRefused = cacheFetch.fetchers.isRefused?.(error) ?? false;
      const usesStale = this.#useStaleOnError(cacheFetch, isRefused ? undefined : sentAtMs, undefined);
      // A refresh has failed, although other clients may have got the stale response: it pauses.
      if (!usesStale || cacheFetch.isBackground) throw error;
      return;
    }
    if (result.kind === "validated") return this.#respondValidated(cacheFetch, result);
    const { response } = result;
    if (this.#useStaleOnError(cacheFetch, sentAtMs, response.status)) {
      dropBody(response.body);
      if (cacheFetch.isBackground) throw new Error(`The origin responded to a refresh with ${response.status}.`);
      return;
    }
    await this.#respondFetched(cacheFetch, result);
  }

  /**
   * RFC 5861, 4.
   * @param sentAtMs undefined if nothing was sent: the error is only for this client.
   * @returns false if the client gets the origin's response or the error.
   */
  #useStaleOnError(cacheFetch: CacheFetch, sentAtMs: number | undefined, status: number | undefined): boolean {
    const { entry, response, lookup, addHeaders, onOutcome } = cacheFetch;
    const { stale, store, observe } = this.#options;
    if (!entry || !stale.mayOnError(entry, status)) return false;
    if (!store.variants(entry.key).includes(entry)) return false;
    if (sentAtMs !== undefined) {
      stale.noteError(entry, sentAtMs);
      // Also if this client gets the error: other waiting clients may accept the stale entry.
      onOutcome?.({ entry, isStale: true });
    }
    if (!acceptsStale(lookup, entry)) return false;
    observe({ kind: "stale", because: "if-error" });
    if (response) writeStale(this.#options, response, lookup.request, entry, addHeaders);
    return true;
  }

  #respondValidated(cacheFetch: CacheFetch, { entry, isStored }: ValidatedResult): void {
    const { response, lookup, addHeaders, forwarded, onOutcome } = cacheFetch;
    const { name, nowMs, observe } = this.#options;
    const isShareable = isStored && isFresh(entry, nowMs());
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
    // Undefined if the body is only relayed.
    const headToStore = this.#collecting < collectingMax ? fittingHead : undefined;
    const isOutdated = () => invalidationLog.isOutdated(sent, headToStore?.groups);
    onHead?.(headToStore?.groups ?? []);
    const isShareable = fittingHead !== undefined && isFresh(fittingHead, nowMs());
    this.#recordShareability(cacheFetch, response.status, isShareable);
    if (!headToStore) onOutcome?.(undefined);
    if (oldEntry && outdatesEntry(response.status, lookup)) store.remove(oldEntry);
    observe({ kind: "miss" });
    // Sent before the body: a body that turns out too long, or a later change, can still prevent storing.
    const isStored = headToStore !== undefined && !isOutdated();
    const cacheStatus = forwardedStatus(name, { forwarded, status: response.status, isStored });
    const client = clientResponse && this.#writeHead(cacheFetch, clientResponse, response, head, cacheStatus);
    const body = await this.#relay(cacheFetch, response, client, headToStore !== undefined);
    if (!body || !headToStore) return;
    const entry = toEntry(sent, headToStore, body);
    if (!isOutdated()) store.put(entry);
    // Also if a change has outdated the entry: all waiting clients joined before it.
    onOutcome?.({ entry, isStale: false });
  }

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

  #recordShareability({ lookup, onOutcome }: CacheFetch, status: number, isShareable: boolean): void {
    const { unshared } = this.#options;
    if (isShareable) return unshared.delete(lookup.key);
    // Not conclusive: errors, which are temporary; a 304; a response to a token, which anonymous clients do not get.
    const isConclusive = status < 500 && status !== 304 && lookup.request.headers["authorization"] === undefined;
    if (isConclusive) unshared.add(lookup.key, unsharedMs);
    onOutcome?.(undefined);
  }

  /** @returns undefined after a 304 to the client's own conditions, which were not sent to the origin. */
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

export function acceptsStale({ forbidsStale, sentAfter }: CacheLookup, entry: Entry): boolean {
  return !forbidsStale && isSentAfter(entry, sentAfter);
}

/** Anonymous clients cannot read the resource (any more). Others, such as 429, concern one request. */
const unreadableStatuses: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** A client error in response to a token may concern only the token's owner. */
function outdatesEntry(status: number, { request }: CacheLookup): boolean {
  if (status < 400) return true;
  return unreadableStatuses.has(status) && request.headers["authorization"] === undefined;
}

function mayFit({ headers }: OriginResponse, bytesMax: number): boolean {
  const length = findHeader(headers, "content-length");
  return length === undefined || Number(length) <= bytesMax;
}

type OriginResult = ValidatedResult | FetchedResult;

interface ValidatedResult {
  readonly kind: "validated";
  readonly entry: Entry;
  readonly isStored: boolean;
}

interface FetchedResult {
  readonly kind: "fetched";
  readonly response: OriginResponse;
  readonly head: StoredHead | undefined;
  readonly sent: SentRead;
}

function canConfirm(entry: Entry, { sentAfter }: CacheLookup): boolean {
  return hasStrongEtag(entry.validators) || isSentAfter(entry, sentAfter);
}

/** A 304 to the cache's own conditions freshens the entry (RFC 9111, 4.3.3 and 4.3.4). */
function createReadSender(options: CacheFetchOptions): (read: CacheFetch) => Promise<OriginResult> {
  const { invalidationLog, nowMs, store } = options;
  const freshen = createFreshening(options);

  return async (read) => {
    const { lookup, signal, fetchers, onInformation, isBackground } = read;
    // A change may have removed it while this read waited for another one.
    const entry = read.entry && store.variants(lookup.key).includes(read.entry) ? read.entry : undefined;
    const requestedAtMs = nowMs();
    const sent = startRead(invalidationLog, lookup, read.isValidation ? requestedAtMs : undefined);
    const conditions = entry && canConfirm(entry, lookup) ? validationConditions(entry.headers) : [];
    const sendsClientConditions = !entry && read.withConditions;
    const headers = sendsClientConditions
      ? fetchers.headers
      : [...withoutHeaders(fetchers.headers, isCondition), ...conditions];
    const response = await fetchers.fetch({ method: "GET", headers, signal, isBackground, onInformation });
    const wasAuthorized = lookup.request.headers["authorization"] !== undefined;
    const { varyValueOf, heuristicSecondsMax } = lookup;
    const received = { requestedAtMs, receivedAtMs: nowMs(), wasAuthorized, varyValueOf, heuristicSecondsMax };
    const is304 = response.status === 304;
    if (is304 && entry && conditions.length > 0) {
      dropBody(response.body);
      // A 304 with another ETag updates nothing (RFC 9111, 4.3.4). The client gets the entry, whose validators the origin accepted.
      if (!confirmsStored(response.headers, entry.headers)) return { kind: "validated", entry, isStored: true };
      const freshened = freshen(entry, response.headers, { ...received, sent });
      return { kind: "validated", entry: freshened.entry, isStored: freshened.isStored };
    }
    // It is about the client's stored response.
    if (is304 && sendsClientConditions) return { kind: "fetched", response, head: undefined, sent };
    const head = toStoredHead({ status: response.status, headers: response.headers, ...received });
    return { kind: "fetched", response, head, sent };
  };
}
