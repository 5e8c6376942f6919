import type { ServerResponse } from "node:http";
import { AbortSource } from "@tributary/kit/http/abort-source";
import { InFlightList } from "@tributary/kit/collections/in-flight-list";
import type { Entry } from "./entry.ts";
import type { InvalidationLog, SentRead } from "./invalidation-log.ts";
import type { CacheLookup } from "./lookup.ts";
import { isRecentValidation } from "./request-rules.ts";
import { isSelected, type Selection } from "./vary.ts";

/** What came of a request that several wait for: a whole answer that all may use, if they select it. Undefined: each has to go alone. */
export type Landing = { readonly entry: Entry; readonly isStale: boolean } | undefined;

/** One request to the origin that others with the same key may join (RFC 9111, 4: collapsed requests). */
export interface Flight {
  readonly signal: AbortSource;
  /** Rejects when there was no answer. */
  readonly landing: Promise<Landing>;
  /** Known once the head is here. */
  groups: readonly string[] | undefined;
  /** Somebody waits. When all have gone before the end, the request is aborted. Calling what is returned is going. */
  enter(response?: ServerResponse): () => void;
  readonly waiting: number;
  land(landing: Landing): void;
  fail(error: unknown): void;
}

export interface Flights {
  readonly underWay: number;
  /**
   * One that the request may join: its response contains every change that is known here, and every write that a client has a response to. A
   * request with `no-cache` (`isDemanded`) joins only one that another such request began less than a second ago. A request without `Authorization`
   * joins none that was sent with it: an invalid token must not cost anonymous clients their shared request.
   */
  find(lookup: CacheLookup, isDemanded: boolean): Flight | undefined;
  /** Whether the response to one in flight is going to be stored, as far as is known. */
  isFilling(lookup: CacheLookup): boolean;
  /** `selection`: what is known so far of how the response varies. */
  begin(lookup: CacheLookup, selection: Selection, isDemanded: boolean): Flight;
  /** Nobody joins those under way any more; who has joined stays. */
  forget(key: string): void;
  /** Aborts all and waits until they have ended. */
  close(): Promise<void>;
}

interface Listed {
  readonly flight: Flight;
  readonly selection: Selection;
  readonly sent: SentRead;
  /** It is sent to the origin with the `Authorization` of the client that began it. */
  readonly hasToken: boolean;
}

export function createFlights({
  log,
  nowMs,
}: {
  readonly log: InvalidationLog;
  readonly nowMs: () => number;
}): Flights {
  // An object instead of a Map, for the reason in kit/src/collections/in-flight-list.ts.
  const byKey = Object.create(null) as Record<string, Listed[]>;
  const all = new InFlightList<Flight>();

  function unlist(key: string, listed: Listed): void {
    const others = (byKey[key] ?? []).filter((one) => one !== listed);
    if (others.length > 0) byKey[key] = others;
    else forget(key);
  }

  function forget(key: string): void {
    // oxlint-disable-next-line typescript/no-dynamic-delete -- a dictionary, and as fast as a Map
    delete byKey[key];
  }

  const isCurrent = ({ flight, selection, sent }: Listed, { selecting }: CacheLookup) =>
    !flight.signal.aborted && isSelected(selection, selecting) && !log.isOutdated(sent, flight.groups);

  return {
    get underWay() {
      return all.size;
    },
    find(lookup, isDemanded) {
      const mayJoin = ({ sent, hasToken }: Listed) =>
        (!hasToken || isAuthorized(lookup)) &&
        !log.precedesWrite(sent) &&
        (!isDemanded || isRecentValidation(sent.validationSentAtMs, nowMs()));
      return byKey[lookup.key]?.find((listed) => mayJoin(listed) && isCurrent(listed, lookup))?.flight;
    },
    isFilling: (lookup) => byKey[lookup.key]?.some((listed) => isCurrent(listed, lookup)) ?? false,
    begin(lookup, selection, isDemanded) {
      const { key } = lookup;
      const flight = createFlight(() => {
        unlist(key, listed);
        all.remove(entry);
      });
      const sent = log.placeRead(lookup, isDemanded ? nowMs() : undefined);
      const listed = { flight, selection, sent, hasToken: isAuthorized(lookup) };
      byKey[key] = [...(byKey[key] ?? []), listed];
      const entry = all.add(flight);
      return flight;
    },
    forget,
    async close() {
      const flights = all.items();
      const ending = flights.map((flight) => flight.landing.catch(() => {}));
      for (const flight of flights) flight.signal.abort(new Error("The cache is closing."));
      await Promise.all(ending);
    },
  };
}

function isAuthorized({ request }: CacheLookup): boolean {
  return request.headers["authorization"] !== undefined;
}

function createFlight(onEnd: () => void): Flight {
  const { promise: landing, resolve, reject } = Promise.withResolvers<Landing>();
  // Often nobody but the leader waits, and it has its own way to hear of an error.
  landing.catch(() => {});
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
    landing,
    groups: undefined,
    get waiting() {
      return waiting;
    },
    enter(response) {
      waiting++;
      let isIn = true;
      const leave = () => {
        if (!isIn) return;
        isIn = false;
        if (--waiting === 0) signal.abort(new Error("Nobody waits any more."));
      };
      const leaveEarly = () => {
        if (!response?.writableFinished) leave();
      };
      if (response?.destroyed) leaveEarly();
      else response?.once("close", leaveEarly);
      return leave;
    },
    land: (landing) => end(() => resolve(landing)),
    fail: (error) => end(() => reject(error instanceof Error ? error : new Error("No answer", { cause: error }))),
  };
}
