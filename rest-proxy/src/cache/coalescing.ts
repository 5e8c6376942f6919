/**
 * Coalescing (single-flight): several clients wait for the response to one origin request, a shared fetch (RFC 9111, 4: collapsed requests).
 * read.ts starts and joins shared fetches.
 */
import type { ServerResponse } from "node:http";
import { InFlightList } from "@tributary/kit/collections/in-flight-list";
import { AbortSource } from "@tributary/kit/http/abort-source";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { CacheLookup } from "./cache-request.ts";
import { type Entry, isSentAfter, type SentRead } from "./entry.ts";
import { startRead } from "./invalidation.ts";
import { isRecentValidation } from "./reuse-rules.ts";
import { matchesVary, type VaryKey } from "./vary.ts";

/** What the waiting clients get. Undefined if the response cannot be shared, so that each of them has to send its own request. */
export type FetchOutcome =
  | {
      /** A whole response for every waiting client whose request matches its `Vary`. */
      readonly entry: Entry;
      /** Whether it is the stored response, sent instead of an error of the origin (`stale-if-error`). */
      readonly isStale: boolean;
    }
  | undefined;

/** One request to the origin, whose response other clients may wait for. */
export interface SharedFetch {
  /** Aborted when the last waiter has left, and when the cache closes. */
  readonly signal: AbortSource;
  /** Settled by `finish` or `fail`. Rejects if there is no response. */
  readonly outcome: Promise<FetchOutcome>;
  /** The cache groups of the response. The caller sets them when its head arrives; until then an invalidation of any group prevents further joins. */
  groups: readonly string[] | undefined;
  /**
   * Adds a waiter. The origin request is aborted when the last waiter leaves, also after `finish(undefined)`: a response that cannot be shared may
   * still be sent to the client that started the fetch. After the end of the origin request, the abort has no effect.
   * @param response of the waiting client, which leaves when it disconnects. Undefined for a background refresh, which never leaves.
   * @returns a function that makes the waiter leave. Only its first call has an effect.
   */
  join(response?: ServerResponse): () => void;
  /** The number of waiters. */
  readonly waiting: number;
  /** Only the first call of `finish` or `fail` has an effect. No request joins the fetch after it. */
  finish(outcome: FetchOutcome): void;
  fail(error: unknown): void;
}

export interface SharedFetches {
  readonly inFlight: number;
  /**
   * Finds a shared fetch that the request may join:
   * - it was sent after every invalidation of its response, after every settled write to its origin, and after the
   *   lookup's `sentAfter`;
   * - its expected `Vary` matches the request;
   * - for a request with `no-cache` (`isValidation`), another such request started it less than a second ago;
   * - for a request without `Authorization`, it was sent without it: its response may be a 401, which anonymous clients must not get.
   */
  find(lookup: CacheLookup, isValidation: boolean): SharedFetch | undefined;
  /**
   * Whether a shared fetch for this request is in flight whose response no invalidation has outdated. Only for background refreshes: unlike `find`,
   * it ignores tokens and settled writes, since no client joins.
   */
  isBeingFetched(lookup: CacheLookup): boolean;
  /**
   * Adds a shared fetch; the caller sends it, and calls `finish` or `fail`.
   * @param varyKey the request's values of the headers in the `Vary` of the newest stored response, which is the expected `Vary`. The response of the
   * fetch may have another one.
   */
  start(lookup: CacheLookup, varyKey: VaryKey, isValidation: boolean): SharedFetch;
  /** Aborts all shared fetches and waits until `finish` or `fail` was called for each. */
  close(): Promise<void>;
}

interface ListedFetch {
  readonly fetch: SharedFetch;
  readonly varyKey: VaryKey;
  readonly sent: SentRead;
  /** Whether the fetch is sent to the origin with the `Authorization` of the client that started it. */
  readonly hasToken: boolean;
}

export function createSharedFetches({
  invalidationLog,
  nowMs,
}: {
  readonly invalidationLog: InvalidationLog;
  readonly nowMs: () => number;
}): SharedFetches {
  // Not a Map: V8 replaces the table of a Map whose keys change, and replaced tables remain until a full collection
  // (kit/src/collections/in-flight-list.ts).
  const byKey = Object.create(null) as Record<string, ListedFetch[]>;
  const all = new InFlightList<SharedFetch>();

  function unlist(key: string, listed: ListedFetch): void {
    const others = (byKey[key] ?? []).filter((other) => other !== listed);
    if (others.length > 0) byKey[key] = others;
    // oxlint-disable-next-line typescript/no-dynamic-delete -- a dictionary, and as fast as a Map
    else delete byKey[key];
  }

  function isUsableBy({ fetch, varyKey, sent }: ListedFetch, { varyValueOf }: CacheLookup): boolean {
    if (fetch.signal.aborted) return false;
    if (!matchesVary(varyKey, varyValueOf)) return false;
    return !invalidationLog.isOutdated(sent, fetch.groups);
  }

  return {
    get inFlight() {
      return all.size;
    },
    find(lookup, isValidation) {
      const mayJoin = (listed: ListedFetch) => {
        const { sent, hasToken } = listed;
        if (hasToken && !isAuthorized(lookup)) return false;
        if (invalidationLog.precedesWrite(sent)) return false;
        if (!isSentAfter(sent, lookup.sentAfter)) return false;
        if (isValidation && !isRecentValidation(sent.validationSentAtMs, nowMs())) return false;
        return isUsableBy(listed, lookup);
      };
      return byKey[lookup.key]?.find(mayJoin)?.fetch;
    },
    isBeingFetched: (lookup) => byKey[lookup.key]?.some((listed) => isUsableBy(listed, lookup)) ?? false,
    start(lookup, varyKey, isValidation) {
      const { key } = lookup;
      // Called when the fetch ends, which is after `start` has returned: `listed` and `item` are initialized then.
      const fetch = createSharedFetch(() => {
        unlist(key, listed);
        all.remove(item);
      });
      const sent = startRead(invalidationLog, lookup, isValidation ? nowMs() : undefined);
      const listed = { fetch, varyKey, sent, hasToken: isAuthorized(lookup) };
      byKey[key] = [...(byKey[key] ?? []), listed];
      const item = all.add(fetch);
      return fetch;
    },
    async close() {
      const fetches = all.items();
      const ended = fetches.map((fetch) => fetch.outcome.catch(() => {}));
      for (const fetch of fetches) fetch.signal.abort(new Error("The cache is closing."));
      await Promise.all(ended);
    },
  };
}

function isAuthorized({ request }: CacheLookup): boolean {
  return request.headers["authorization"] !== undefined;
}

function createSharedFetch(onEnd: () => void): SharedFetch {
  const { promise: outcome, resolve, reject } = Promise.withResolvers<FetchOutcome>();
  // Prevents an unhandled rejection: the client that started the fetch gets its error from `runShared`, and often no other client waits.
  outcome.catch(() => {});
  const signal = new AbortSource();
  let waiting = 0;
  let hasEnded = false;
  const end = (settle: () => void) => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
    settle();
  };
  return {
    signal,
    outcome,
    groups: undefined,
    get waiting() {
      return waiting;
    },
    join(response) {
      waiting++;
      let isWaiting = true;
      const leave = () => {
        if (!isWaiting) return;
        isWaiting = false;
        waiting--;
        if (waiting === 0) signal.abort(new Error("No client waits for the response."));
      };
      if (response === undefined) return leave;
      const onClose = () => {
        // `close` also follows the end of a response; the client has disconnected only if it comes before that.
        if (!response.writableFinished) leave();
      };
      if (response.destroyed) onClose();
      else response.once("close", onClose);
      return leave;
    },
    finish: (result) => end(() => resolve(result)),
    fail: (error) => end(() => reject(error instanceof Error ? error : new Error("No response", { cause: error }))),
  };
}
