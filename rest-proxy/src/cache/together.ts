import type { ServerResponse } from "node:http";
import { type Forwarded, forwardedStatus } from "./cache-status.ts";
import type { Entry } from "./entry.ts";
import { type Fetcher, type FetchingOptions, sendStale } from "./fetching.ts";
import type { Flight, Flights } from "./flights.ts";
import type { CacheLookup, OriginFetchers } from "./lookup.ts";
import { createMarks, type Marks } from "./marks.ts";
import { answerFrom, unchangedHeaders, type CompleteHeaders, send } from "./sending.ts";
import { isSelected } from "./vary.ts";

/** What a client waits for. */
export interface Wanted {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly ways: OriginFetchers;
  readonly complete: CompleteHeaders;
  /** Stored and stale, or not good enough for this client. */
  readonly entry: Entry | undefined;
  readonly forwarded: Forwarded;
  /** The client demands a validated response, see `mustValidate`. */
  readonly isDemanded: boolean;
}

export interface TogetherOptions extends FetchingOptions {
  readonly fetcher: Fetcher;
  readonly flights: Flights;
  /** Shared requests and refreshes under way at once. */
  readonly backgroundMax: number;
}

export interface Together {
  /** One request for all who want the same. False when this client has to go alone: nothing is written then. */
  read(wanted: Wanted): Promise<boolean>;
  /** Renews what is stale while it is used; nobody waits for it. */
  refresh(lookup: CacheLookup, ways: OriginFetchers, entry: Entry): void;
}

/** After a refresh has failed, what is stale is used this long before the next attempt. */
const refreshPauseMs = 1_000;
const marksMax = 10_000;

export function createTogether(o: TogetherOptions): Together {
  const { store, flights, fetcher, nowMs, observe, unshared } = o;
  const paused = createMarks({ marksMax, nowMs });

  async function read(wanted: Wanted): Promise<boolean> {
    const { lookup, response, isDemanded } = wanted;
    // Twice: the first response may show that the two requests select different variants, and then there is another flight to join or to begin.
    for (let attempt = 0; attempt < 2 && mayShare(wanted, unshared); attempt++) {
      const flight = flights.find(lookup, isDemanded);
      if (flight) {
        if ((await follow(flight, wanted)) || response.destroyed) return true;
        continue;
      }
      if (flights.underWay >= o.backgroundMax) return false;
      const begun = begin(lookup, isDemanded);
      begun.enter(response);
      await fly(begun, wanted);
      return true;
    }
    return false;
  }

  function begin(lookup: CacheLookup, isDemanded: boolean): Flight {
    // The next response is expected to vary as the newest one does.
    const fields = store.variants(lookup.key)[0]?.selection.fields ?? [];
    return flights.begin(lookup, { fields, values: fields.map(lookup.selecting) }, isDemanded);
  }

  async function fly(flight: Flight, wanted: Omit<Wanted, "response"> & { response: ServerResponse | undefined }) {
    const ask = wanted.ways.background;
    const { signal } = flight;
    const isWanted = () => flight.waiting > 0;
    const onHead = (groups: readonly string[]) => void (flight.groups = groups);
    const onLanding = flight.land;
    try {
      await fetcher.fetch({ ...wanted, ask, signal, withConditions: false, isWanted, onHead, onLanding });
      // Nothing was kept: whoever still waits goes alone.
      flight.land(undefined);
    } catch (error) {
      flight.fail(error);
      throw error;
    }
  }

  async function follow(flight: Flight, { lookup, response, complete, forwarded }: Wanted): Promise<boolean> {
    const leave = flight.enter(response);
    const landing = await flight.landing.finally(leave);
    if (!landing || !isSelected(landing.entry.selection, lookup.selecting)) return false;
    const { entry, isStale } = landing;
    observe({ kind: "collapsed" });
    if (isStale) sendStale(o, response, lookup.request, entry, complete);
    else {
      const status = forwardedStatus(o.name, { forwarded, isCollapsed: true });
      send(response, answerFrom(entry, lookup.request, nowMs(), status), complete);
    }
    return true;
  }

  /** RFC 5861, 3: one for each entry at a time, since no client waits for it; a pause when it fails. */
  function refresh(lookup: CacheLookup, ways: OriginFetchers, entry: Entry): void {
    const { origin, key } = lookup;
    if (flights.isFilling(lookup) || paused.has(key)) return;
    if (flights.underWay >= o.backgroundMax) return observe({ kind: "refresh-skipped" });
    // With this client's token, if it has one: what comes is kept only when it says that it is for everybody (RFC 9111, 3.5).
    const flight = begin(lookup, false);
    flight.enter();
    const about = { lookup, ways, entry, forwarded: "stale", isDemanded: false } as const;
    fly(flight, { ...about, response: undefined, complete: unchangedHeaders }).catch((cause: unknown) => {
      paused.set(key, refreshPauseMs);
      observe({ kind: "refresh-failed", origin, key, cause });
    });
  }

  return { read, refresh };
}

/**
 * A request does not wait for a response that may be for one caller only (RFC 9111, 3.5), or that could not be shared the last time. One with
 * `no-cache` for which a response is stored does: that response is shared, and probably will be once it is validated. With `Authorization` it may
 * begin a flight too, which only other requests with `Authorization` join.
 */
function mayShare({ lookup: { key, request }, entry, isDemanded }: Wanted, unshared: Marks): boolean {
  if (isDemanded && entry !== undefined) return true;
  return request.headers["authorization"] === undefined && !unshared.has(key);
}
