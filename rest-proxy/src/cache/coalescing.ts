/** Coalescing (single-flight): the requests to the origin that several clients wait for (RFC 9111, 4: collapsed requests). */
import type { ServerResponse } from "node:http";
import { InFlightList } from "@tributary/kit/collections/in-flight-list";
import { AbortSource } from "@tributary/kit/http/abort-source";
import type { CacheLookup } from "./cache-request.ts";
import { type Entry, isSelected, type Selection, type SentRead } from "./entry.ts";
import type { InvalidationLog } from "./invalidation.ts";
import { isRecentValidation } from "./reuse-rules.ts";

/** A whole response for every client that selects it. Undefined: each client has to send its own request. */
export type FetchOutcome = { readonly entry: Entry; readonly isStale: boolean } | undefined;

/** One request to the origin that other clients may join. */
export interface SharedFetch {
  readonly signal: AbortSource;
  /** Rejects if there is no response. */
  readonly outcome: Promise<FetchOutcome>;
  /** Known once the head of the response is received. */
  groups: readonly string[] | undefined;
  /**
   * Adds a waiter and returns its `leave()`. The origin request is aborted when the last waiter leaves.
   * @param response of the waiting client, which leaves if it disconnects. Undefined for a background refresh.
   */
  join(response?: ServerResponse): () => void;
  readonly waiting: number;
  finish(outcome: FetchOutcome): void;
  fail(error: unknown): void;
}

export interface SharedFetches {
  readonly inFlight: number;
  /**
   * One that the request may join: its response contains every change that is known here, and every write that a client has a response to. A
   * request with `no-cache` (`isValidation`) joins only one that another such request started less than a second ago. A request without
   * `Authorization` joins none that was sent with it: an invalid token must not cost anonymous clients their shared request.
   */
  find(lookup: CacheLookup, isValidation: boolean): SharedFetch | undefined;
  /** Whether a response that this request could use is being fetched and, as far as is known, will be stored. */
  isBeingFetched(lookup: CacheLookup): boolean;
  /** @param selection how the response is expected to vary. */
  start(lookup: CacheLookup, selection: Selection, isValidation: boolean): SharedFetch;
  /** No further request joins those in flight; those that have joined get the response. */
  stopJoining(key: string): void;
  /** Aborts all and waits until they have ended. */
  close(): Promise<void>;
}

interface Listed {
  readonly fetch: SharedFetch;
  readonly selection: Selection;
  readonly sent: SentRead;
  /** It is sent to the origin with the `Authorization` of the client that started it. */
  readonly hasToken: boolean;
}

export function createSharedFetches({
  log,
  nowMs,
}: {
  readonly log: InvalidationLog;
  readonly nowMs: () => number;
}): SharedFetches {
  // An object instead of a Map, for the reason in kit/src/collections/in-flight-list.ts.
  const byKey = Object.create(null) as Record<string, Listed[]>;
  const all = new InFlightList<SharedFetch>();

  function unlist(key: string, listed: Listed): void {
    const others = (byKey[key] ?? []).filter((other) => other !== listed);
    if (others.length > 0) byKey[key] = others;
    else stopJoining(key);
  }

  function stopJoining(key: string): void {
    // oxlint-disable-next-line typescript/no-dynamic-delete -- a dictionary, and as fast as a Map
    delete byKey[key];
  }

  const isCurrent = ({ fetch, selection, sent }: Listed, { selecting }: CacheLookup) =>
    !fetch.signal.aborted && isSelected(selection, selecting) && !log.isOutdated(sent, fetch.groups);

  return {
    get inFlight() {
      return all.size;
    },
    find(lookup, isValidation) {
      const mayJoin = ({ sent, hasToken }: Listed) =>
        (!hasToken || isAuthorized(lookup)) &&
        !log.precedesWrite(sent) &&
        (!isValidation || isRecentValidation(sent.validationSentAtMs, nowMs()));
      return byKey[lookup.key]?.find((listed) => mayJoin(listed) && isCurrent(listed, lookup))?.fetch;
    },
    isBeingFetched: (lookup) => byKey[lookup.key]?.some((listed) => isCurrent(listed, lookup)) ?? false,
    start(lookup, selection, isValidation) {
      const { key } = lookup;
      const fetch = createSharedFetch(() => {
        unlist(key, listed);
        all.remove(item);
      });
      const sent = log.placeRead(lookup, isValidation ? nowMs() : undefined);
      const listed = { fetch, selection, sent, hasToken: isAuthorized(lookup) };
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
