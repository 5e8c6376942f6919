/**
 * Coalescing (single-flight): several clients wait for the response to one origin request (RFC 9111, 4: collapsed requests). Only one that
 * may be stored is shared, which `toStoredHead` (entry.ts) decides when its head arrives.
 */
import type { ServerResponse } from "node:http";
import { InFlightList } from "@tributary/kit/collections/in-flight-list";
import { AbortSource } from "@tributary/kit/http/abort-source";
import type { InvalidationLog } from "@tributary/kit/invalidation/invalidation-log";
import type { InformationListener } from "@tributary/kit/upstream/transport";
import type { CacheLookup } from "./cache-request.ts";
import { type Entry, isSentAfter, type SentRead } from "./entry.ts";
import { startRead } from "./invalidation.ts";
import { isRecentValidation } from "./reuse-rules.ts";
import { matchesVary, type VaryKey } from "./vary.ts";

/** Undefined if the response cannot be shared: each waiting client then sends its own request. */
export type FetchOutcome =
  | {
      readonly entry: Entry;
      /** Whether it is the stored response, sent instead of an error of the origin. */
      readonly isStale: boolean;
    }
  | undefined;

export interface SharedFetch {
  /** Aborted when the last waiter has left, and when the cache closes. */
  readonly signal: AbortSource;
  readonly outcome: Promise<FetchOutcome>;
  /** Set when the head of the response arrives; until then an invalidation of any group prevents further joins. */
  groups: readonly string[] | undefined;
  /**
   * The origin request is aborted when the last waiter leaves.
   * @param response of the waiting client. Undefined for a background refresh, which never leaves.
   */
  join(response?: ServerResponse, onInformation?: InformationListener): () => void;
  /** Passes an informational response of the origin on to the waiting clients. */
  readonly inform: InformationListener;
  readonly waiting: number;
  /** Only the first call of `finish` or `fail` has an effect. */
  finish(outcome: FetchOutcome): void;
  fail(error: unknown): void;
}

export type SharedFetches = ReturnType<typeof createSharedFetches>;

interface ListedFetch {
  readonly fetch: SharedFetch;
  readonly varyKey: VaryKey;
  readonly sent: SentRead;
  readonly isForToken: boolean;
}

export function createSharedFetches({
  invalidationLog,
  nowMs,
}: {
  readonly invalidationLog: InvalidationLog;
  readonly nowMs: () => number;
}) {
  // Not a Map, whose replaced tables V8 keeps until a full collection (kit/src/collections/in-flight-list.ts).
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
    get inFlight(): number {
      return all.size;
    },
    /**
     * A fetch that was sent after every change of its response, every settled write to its origin and `sentAfter`, and whose expected `Vary` matches.
     * A request with `no-cache` (`isValidation`) joins only another one of the last second; one without `Authorization` none with it, whose response
     * may be a 401.
     */
    find(lookup: CacheLookup, isValidation: boolean): SharedFetch | undefined {
      const mayJoin = (listed: ListedFetch) => {
        const { sent, isForToken } = listed;
        if (isForToken && !hasToken(lookup)) return false;
        if (invalidationLog.precedesWrite(sent)) return false;
        if (!isSentAfter(sent, lookup.sentAfter)) return false;
        if (isValidation && !isRecentValidation(sent.validationSentAtMs, nowMs())) return false;
        return isUsableBy(listed, lookup);
      };
      return byKey[lookup.key]?.find(mayJoin)?.fetch;
    },
    /** For background refreshes: unlike `find`, it ignores tokens and settled writes, since no client joins. */
    isBeingFetched: (lookup: CacheLookup) => byKey[lookup.key]?.some((listed) => isUsableBy(listed, lookup)) ?? false,
    start(lookup: CacheLookup, varyKey: VaryKey, isValidation: boolean): SharedFetch {
      const { key } = lookup;
      const fetch = createSharedFetch(() => {
        unlist(key, listed);
        all.remove(item);
      });
      const sent = startRead(invalidationLog, lookup, isValidation ? nowMs() : undefined);
      const listed = { fetch, varyKey, sent, isForToken: hasToken(lookup) };
      byKey[key] = [...(byKey[key] ?? []), listed];
      const item = all.add(fetch);
      return fetch;
    },
    async close(): Promise<void> {
      const fetches = all.items();
      const ended = fetches.map((fetch) => fetch.outcome.catch(() => {}));
      for (const fetch of fetches) fetch.signal.abort(new Error("The cache is closing."));
      await Promise.all(ended);
    },
  };
}

export function hasToken({ request }: CacheLookup): boolean {
  return request.headers["authorization"] !== undefined;
}

function createSharedFetch(onEnd: () => void): SharedFetch {
  const { promise: outcome, resolve, reject } = Promise.withResolvers<FetchOutcome>();
  // Often no client waits: a rejection must not count as unhandled.
  outcome.catch(() => {});
  const signal = new AbortSource();
  const listeners = new Set<InformationListener>();
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
    inform: (...information) => listeners.forEach((listener) => listener(...information)),
    join(response, onInformation) {
      waiting++;
      if (onInformation) listeners.add(onInformation);
      let isWaiting = true;
      const leave = () => {
        if (!isWaiting) return;
        isWaiting = false;
        if (onInformation) listeners.delete(onInformation);
        waiting--;
        if (waiting === 0) signal.abort(new Error("No client waits for the response."));
      };
      if (response === undefined) return leave;
      const onClose = () => {
        // `close` also follows the end of a response.
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
