/** Coalescing (single-flight): the requests to the origin that several clients wait for (RFC 9111, 4: collapsed requests). */
import type { ServerResponse } from "node:http";
import { InFlightList } from "@tributary/kit/collections/in-flight-list";
import { AbortSource } from "@tributary/kit/http/abort-source";
import type { CacheLookup } from "./cache-request.ts";
import type { Entry, SentRead } from "./entry.ts";
import type { InvalidationLog } from "./invalidation.ts";
import { isRecentValidation } from "./reuse-rules.ts";
import { matchesVary, type VaryKey } from "./vary.ts";

/** A whole response for every waiting client whose request matches its `Vary`. Undefined if each client has to send its own request. */
export type FetchOutcome = { readonly entry: Entry; readonly isStale: boolean } | undefined;

/** One request to the origin that other clients may join. */
export interface SharedFetch {
  /** Aborted when the last waiter has left, and when the cache closes. */
  readonly signal: AbortSource;
  /** Settled by `finish` or `fail`. Rejects if there is no response. */
  readonly outcome: Promise<FetchOutcome>;
  /** The cache groups of the response; undefined until its head is received. */
  groups: readonly string[] | undefined;
  /**
   * Adds a waiter. The origin request is aborted when the last waiter leaves.
   * @param response of the waiting client, which leaves when it disconnects. Undefined for a background refresh, which never leaves.
   * @returns a function that makes the waiter leave.
   */
  join(response?: ServerResponse): () => void;
  /** The number of waiters. */
  readonly waiting: number;
  /** Only the first call of `finish` or `fail` has an effect. */
  finish(outcome: FetchOutcome): void;
  fail(error: unknown): void;
}

export interface SharedFetches {
  readonly inFlight: number;
  /**
   * Finds a fetch in flight that the request may join: one that was sent after every invalidation of its response and every settled write to its origin. A
   * request with `no-cache` (`isValidation`) joins only a fetch that another such request started less than a second ago. A request without
   * `Authorization` joins no fetch that was sent with it: an invalid token must not cost anonymous clients their shared request.
   */
  find(lookup: CacheLookup, isValidation: boolean): SharedFetch | undefined;
  /** Whether a response that this request could use is being fetched, and no invalidation prevents that it is stored. */
  isBeingFetched(lookup: CacheLookup): boolean;
  /**
   * Adds a fetch; the caller sends it.
   * @param varyKey the expected one: by the `Vary` of the newest stored response. The response may have another `Vary`.
   */
  start(lookup: CacheLookup, varyKey: VaryKey, isValidation: boolean): SharedFetch;
  /** No further request joins the fetches of this key that are in flight. The clients that have joined get the response. */
  stopJoining(key: string): void;
  /** Aborts all fetches in flight and waits until they have ended. */
  close(): Promise<void>;
}

interface ListedFetch {
  readonly fetch: SharedFetch;
  readonly varyKey: VaryKey;
  readonly sent: SentRead;
  /** It is sent to the origin with the `Authorization` of the client that started it. */
  readonly hasToken: boolean;
}

export function createSharedFetches({
  invalidationLog,
  nowMs,
}: {
  readonly invalidationLog: InvalidationLog;
  readonly nowMs: () => number;
}): SharedFetches {
  // An object instead of a Map, for the reason in kit/src/collections/in-flight-list.ts.
  const byKey = Object.create(null) as Record<string, ListedFetch[]>;
  const all = new InFlightList<SharedFetch>();

  function unlist(key: string, listed: ListedFetch): void {
    const others = (byKey[key] ?? []).filter((other) => other !== listed);
    if (others.length > 0) byKey[key] = others;
    else stopJoining(key);
  }

  function stopJoining(key: string): void {
    // oxlint-disable-next-line typescript/no-dynamic-delete -- a dictionary, and as fast as a Map
    delete byKey[key];
  }

  const isCurrent = ({ fetch, varyKey, sent }: ListedFetch, { varyValueOf }: CacheLookup) =>
    !fetch.signal.aborted && matchesVary(varyKey, varyValueOf) && !invalidationLog.isOutdated(sent, fetch.groups);

  return {
    get inFlight() {
      return all.size;
    },
    find(lookup, isValidation) {
      const mayJoin = ({ sent, hasToken }: ListedFetch) =>
        (!hasToken || isAuthorized(lookup)) &&
        !invalidationLog.precedesWrite(sent) &&
        (!isValidation || isRecentValidation(sent.validationSentAtMs, nowMs()));
      return byKey[lookup.key]?.find((listed) => mayJoin(listed) && isCurrent(listed, lookup))?.fetch;
    },
    isBeingFetched: (lookup) => byKey[lookup.key]?.some((listed) => isCurrent(listed, lookup)) ?? false,
    start(lookup, varyKey, isValidation) {
      const { key } = lookup;
      const fetch = createSharedFetch(() => {
        unlist(key, listed);
        all.remove(item);
      });
      const sent = invalidationLog.startRead(lookup, isValidation ? nowMs() : undefined);
      const listed = { fetch, varyKey, sent, hasToken: isAuthorized(lookup) };
      byKey[key] = [...(byKey[key] ?? []), listed];
      const item = all.add(fetch);
      return fetch;
    },
    stopJoining,
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
  // Often only the client that started the request waits, and it gets the error from the fetch itself.
  outcome.catch(() => {});
  const signal = new AbortSource();
  let waiting = 0;
  let isOver = false;
  const end = (settle: () => void) => {
    if (isOver) return;
    isOver = true;
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
        if (--waiting === 0) signal.abort(new Error("No client waits for the response."));
      };
      const onClose = () => {
        if (!response?.writableFinished) leave();
      };
      if (response?.destroyed) onClose();
      else response?.once("close", onClose);
      return leave;
    },
    finish: (result) => end(() => resolve(result)),
    fail: (error) => end(() => reject(error instanceof Error ? error : new Error("No response", { cause: error }))),
  };
}
