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
import {
  type AddHeaders,
  createCachedResponse,
  forwardedStatus,
  writeCachedResponse,
  writeOriginHead,
  writeStale,
} from "./write-response.ts";
import type { StaleRules } from "./reuse-rules.ts";
import type { TtlSet } from "./ttl-set.ts";

/** One `GET` to send to the origin. */
export interface OriginRead {
  readonly lookup: CacheLookup;
  readonly fetchers: OriginFetchers;
  readonly fetch: OriginFetch;
  readonly signal: AbortSignalLike;
  /** The stored response to validate, if any. */
  readonly entry: Entry | undefined;
  /** Whether the client's own conditions (`If-None-Match`, …) are sent. Not if `entry` is present: then only those of the entry are. */
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
  readonly #o: CacheFetchOptions;
  readonly #send: (read: OriginRead) => Promise<OriginResult>;
  #collecting = 0;

  constructor(o: CacheFetchOptions) {
    this.#o = o;
    this.#send = createReadSender(o);
  }

  /**
   * Resolves when the response is written.
   * @throws the error of the origin fetch, unless a stored response is sent instead; Error for a truncated response.
   */
  async fetch(f: CacheFetch): Promise<void> {
    const sentAtMs = this.#o.nowMs();
    let result: OriginResult;
    try {
      result = await this.#send(f);
    } catch (error) {
      if (f.signal.aborted || !this.#useStaleOnError(f, sentAtMs, undefined)) throw error;
      return;
    }
    if (result.kind === "validated") return this.#respondValidated(f, result);
    const { response } = result;
    if (this.#useStaleOnError(f, sentAtMs, response.status)) return dropBody(response.body);
    await this.#respondFetched(f, result);
  }

  /**
   * Sends the stored entry instead of an error (RFC 5861, 4), if the origin permits it and the entry is still in the store.
   * @param status of the origin's response; undefined without a response.
   */
  #useStaleOnError(f: CacheFetch, sentAtMs: number, status: number | undefined): boolean {
    const { entry, response, lookup, addHeaders, onOutcome } = f;
    const { stale, store, observe } = this.#o;
    if (!entry || !stale.mayOnError(entry, status) || !store.variants(entry.key).includes(entry)) return false;
    stale.noteError(entry, sentAtMs);
    // Called even if this client gets the error below: other waiting clients may accept the stale entry.
    onOutcome?.({ entry, isStale: true });
    if (!acceptsStale(lookup, entry)) return false;
    observe({ kind: "stale", because: "if-error" });
    if (response) writeStale(this.#o, response, lookup.request, entry, addHeaders);
    return true;
  }

  #respondValidated(f: CacheFetch, { entry, isStored }: OriginResult & { kind: "validated" }): void {
    const { name, nowMs, observe } = this.#o;
    // Undefined: each waiting client sends its own request.
    f.onOutcome?.(isStored && isFresh(entry, nowMs()) ? { entry, isStale: false } : undefined);
    observe({ kind: "revalidated" });
    if (!f.response) return;
    const cacheStatus = forwardedStatus(name, { forwarded: f.forwarded, status: 304, isStored });
    writeCachedResponse(f.response, createCachedResponse(entry, f.lookup.request, nowMs(), cacheStatus), f.addHeaders);
  }

  async #respondFetched(f: CacheFetch, { response, head, sent }: OriginResult & { kind: "fetched" }): Promise<void> {
    const { store, invalidationLog, entryBytesMax, collectingMax, nowMs, observe, name } = this.#o;
    const storable = mayFit(response, entryBytesMax) ? head : undefined;
    const stored = this.#collecting < collectingMax ? storable : undefined;
    const isOutdated = () => invalidationLog.isOutdated(sent, stored?.groups);
    f.onHead?.(stored?.groups ?? []);
    this.#noteShared(f, response, storable !== undefined && isFresh(storable, nowMs()));
    if (!stored) f.onOutcome?.(undefined);
    if (f.entry && replacesEntry(response.status, f)) store.remove(f.entry);
    observe({ kind: "miss" });
    // `Cache-Status` is sent before the body, so a body that turns out too long, or a later change, can still prevent storing.
    const isStored = stored !== undefined && !isOutdated();
    const cacheStatus = forwardedStatus(name, { forwarded: f.forwarded, status: response.status, isStored });
    const client = f.response && this.#writeHead(f, f.response, response, head, cacheStatus);
    const body = await this.#relay(f, response, client, stored !== undefined);
    if (!body || !stored) return;
    const entry = toEntry(sent, stored, body);
    if (!isOutdated()) store.put(entry);
    // Called even if a change has outdated the entry: all waiting clients joined before the change (`SharedFetches.find`).
    f.onOutcome?.({ entry, isStale: false });
  }

  async #relay(
    f: CacheFetch,
    { body, status }: OriginResponse,
    client: ServerResponse | undefined,
    isCollected: boolean,
  ): Promise<Buffer | undefined> {
    if (!isCollected) return relayBody(body, { client, bytesMax: 0, isWanted: f.isWanted });
    this.#collecting++;
    try {
      const onTooLong = () => this.#noteShared(f, { status }, false);
      return await relayBody(body, { client, bytesMax: this.#o.entryBytesMax, isWanted: f.isWanted, onTooLong });
    } finally {
      this.#collecting--;
    }
  }

  /** Remembers whether responses for this key can be shared. If not, each waiting client sends its own request. */
  #noteShared({ lookup, onOutcome }: CacheFetch, { status }: Pick<OriginResponse, "status">, isShared: boolean): void {
    if (isShared) return this.#o.unshared.delete(lookup.key);
    // Not conclusive: errors, which are temporary; a 304, which is not a whole response; a response to a token, which anonymous clients do not get.
    const isConclusive = status < 500 && status !== 304 && lookup.request.headers["authorization"] === undefined;
    if (isConclusive) this.#o.unshared.add(lookup.key, unsharedMs);
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
    const isUnchanged = head?.status === 200 && isNotModified(lookup.request.headers, head.validators, this.#o.nowMs());
    if (!isUnchanged) {
      writeOriginHead(client, response, cacheStatus, addHeaders);
      return client;
    }
    const headers = [...head.notModifiedHeaders, "Cache-Status", cacheStatus];
    writeCachedResponse(client, { status: 304, headers, body: undefined }, addHeaders);
    return undefined;
  }
}

/** Whether the client accepts this response although it is stale, if the origin permits it. */
export function acceptsStale({ forbidsStale, sentAfter }: CacheLookup, entry: Entry): boolean {
  return !forbidsStale && isSentAfter(entry, sentAfter);
}

/** Client errors which mean that anonymous clients cannot read the resource (any more). Others, such as 429, concern one request. */
const unreadable: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** Whether the response means that the stored one is no longer valid. A client error in response to a token may concern only the token's owner. */
function replacesEntry(status: number, { lookup: { request } }: CacheFetch): boolean {
  if (status < 400) return true;
  return unreadable.has(status) && request.headers["authorization"] === undefined;
}

function mayFit({ headers }: OriginResponse, bytesMax: number): boolean {
  const length = findHeader(headers, "content-length");
  return length === undefined || Number(length) <= bytesMax;
}

/** The origin confirmed the stored response, or sent another one. */
type OriginResult =
  | { readonly kind: "validated"; readonly entry: Entry; readonly isStored: boolean }
  | {
      readonly kind: "fetched";
      readonly response: OriginResponse;
      /** Undefined if the response must not be stored. */
      readonly head: StoredHead | undefined;
      readonly sent: SentRead;
    };

/** Whether a 304 to the conditions of the entry proves that the entry is as new as the client demands (`hasStrongEtag`). */
function canConfirm(entry: Entry, { sentAfter }: CacheLookup): boolean {
  return hasStrongEtag(entry.validators) || isSentAfter(entry, sentAfter);
}

/** Sends one `GET` to the origin. A 304 to the cache's own conditions freshens the entry (RFC 9111, 4.3.3 and 4.3.4). */
function createReadSender(o: CacheFetchOptions): (read: OriginRead) => Promise<OriginResult> {
  const { invalidationLog, nowMs } = o;
  const freshen = createFreshening(o);

  return async (read) => {
    const { lookup, signal, fetch, fetchers } = read;
    const requestedAtMs = nowMs();
    const sent = invalidationLog.startRead(lookup, read.isValidation ? requestedAtMs : undefined);
    const conditions = read.entry && canConfirm(read.entry, lookup) ? validationConditions(read.entry.headers) : [];
    const entry = conditions.length > 0 ? read.entry : undefined;
    const sendsClientConditions = !read.entry && read.withConditions;
    const headers = sendsClientConditions
      ? fetchers.headers
      : [...withoutHeaders(fetchers.headers, isCondition), ...conditions];
    const response = await fetch({ method: "GET", headers, signal });
    const wasAuthorized = lookup.request.headers["authorization"] !== undefined;
    const { varyValueOf, heuristicSecondsMax } = lookup;
    const received = { requestedAtMs, receivedAtMs: nowMs(), wasAuthorized, varyValueOf, heuristicSecondsMax };
    if (response.status !== 304 || !entry) {
      // A 304 to the client's own conditions is about the client's copy, so there is nothing to store.
      const isForClient = sendsClientConditions && response.status === 304;
      const head = isForClient ? undefined : toStoredHead({ ...response, ...received }, o.targetedFields);
      return { kind: "fetched", response, head, sent };
    }
    dropBody(response.body);
    // A 304 with another ETag than the entry's updates nothing (RFC 9111, 4.3.4). The client gets the entry: the origin has accepted its validators.
    if (!confirmsStored(response.headers, entry.headers)) return { kind: "validated", entry, isStored: true };
    return { kind: "validated", ...freshen(entry, response.headers, { ...received, sent }) };
  };
}
