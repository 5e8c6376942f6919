import type { ServerResponse } from "node:http";
import type { Entry } from "./entry.ts";
import type { InvalidationLog } from "./invalidation-log.ts";
import { Abortable } from "./signal.ts";
import { isSelected, type Selecting, type Selection } from "./vary.ts";

/** What came of a request that several wait for: a whole answer that all may use, if they select it. Undefined: each has to go alone. */
export type Landing = { readonly entry: Entry; readonly isStale: boolean } | undefined;

/** One request to the origin that others with the same key may join (RFC 9111, 4: collapsed requests). */
export interface Flight {
  readonly signal: Abortable;
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
  /** One that the request may join: what it brings cannot be older than a change that was made known. */
  find(key: string, selecting: Selecting): Flight | undefined;
  /** `selection`: what is known so far of how the answer varies. */
  begin(key: string, selection: Selection): Flight;
  /** Nobody joins those under way any more; who has joined stays. */
  forget(key: string): void;
  /** Aborts all and waits until they have ended. */
  close(): Promise<void>;
}

interface Listed {
  readonly flight: Flight;
  readonly selection: Selection;
  readonly askedAt: number;
}

export function createFlights(log: InvalidationLog): Flights {
  const byKey = new Map<string, Listed[]>();
  const all = new Set<Flight>();

  function unlist(key: string, listed: Listed): void {
    const others = (byKey.get(key) ?? []).filter((one) => one !== listed);
    if (others.length > 0) byKey.set(key, others);
    else byKey.delete(key);
  }

  return {
    get underWay() {
      return all.size;
    },
    find(key, selecting) {
      const found = byKey
        .get(key)
        ?.find(
          ({ flight, selection, askedAt }) =>
            !flight.signal.aborted && isSelected(selection, selecting) && !log.isOutdated(askedAt, key, flight.groups),
        );
      return found?.flight;
    },
    begin(key, selection) {
      const flight = createFlight(() => {
        unlist(key, listed);
        all.delete(flight);
      });
      const listed = { flight, selection, askedAt: log.now };
      byKey.set(key, [...(byKey.get(key) ?? []), listed]);
      all.add(flight);
      return flight;
    },
    forget: (key) => void byKey.delete(key),
    async close() {
      const ending = [...all].map((flight) => flight.landing.catch(() => {}));
      for (const flight of all) flight.signal.abort(new Error("The cache is closing."));
      await Promise.all(ending);
    },
  };
}

function createFlight(onEnd: () => void): Flight {
  const { promise: landing, resolve, reject } = Promise.withResolvers<Landing>();
  // Often nobody but the leader waits, and it has its own way to hear of an error.
  landing.catch(() => {});
  const signal = new Abortable();
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
