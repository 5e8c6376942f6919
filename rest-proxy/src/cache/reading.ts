import type { ServerResponse } from "node:http";
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
import type { CacheObservation } from "./cache-observation.ts";
import { type Forwarded, hitStatus } from "./cache-status.ts";
import { type Entry, type HeadOptions, isFresh, secondsLeft } from "./entry.ts";
import { Fetcher, type FetchingOptions, sendStale } from "./fetching.ts";
import type { Flights } from "./flights.ts";
import { createHeading } from "./heading.ts";
import type { CacheLookup, OriginFetchers } from "./lookup.ts";
import { passOn } from "./passing.ts";
import { mustValidate, type RequestRules } from "./request-rules.ts";
import { answerFrom, type CompleteHeaders, type CachedResponse, send } from "./sending.ts";
import { createTogether, type Wanted } from "./together.ts";

export interface ReadingOptions extends FetchingOptions, HeadOptions {
  readonly flights: Flights;
  readonly rules: RequestRules;
  /** Shared requests and refreshes under way at once. */
  readonly backgroundMax: number;
}

export interface Reading extends Hits {
  /** Answers a `GET` or `HEAD` in whatever way is left. */
  read(lookup: CacheLookup, response: ServerResponse, ways: OriginFetchers, complete: CompleteHeaders): Promise<void>;
}

/** Responses that need no origin. */
export interface Hits {
  /** The hit: synchronous, `GET` and `HEAD` only; undefined where the origin has to be asked or something done beside. */
  findFresh(lookup: CacheLookup): CachedResponse | undefined;
}

const hit: CacheObservation = { kind: "hit" };

/** RFC 9111, 4, from the cheapest way of answering to the dearest. */
export function createReading(o: ReadingOptions): Reading {
  const { store, rules, stale, nowMs, observe } = o;
  const fetcher = new Fetcher(o);
  const together = createTogether({ ...o, fetcher });
  const head = createHeading(o);

  function findFresh({ key, request, selecting }: CacheLookup): CachedResponse | undefined {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    if (rules.isForOrigin(request)) return undefined;
    const entry = store.find(key, selecting);
    const atMs = nowMs();
    if (!entry || !rules.isUsable(entry, request, atMs)) return undefined;
    observe(hit);
    return answerFrom(entry, request, atMs, hitStatus(o.name, secondsLeft(entry, atMs)));
  }

  async function read(lookup: CacheLookup, response: ServerResponse, ways: OriginFetchers, complete: CompleteHeaders) {
    const { request } = lookup;
    if (rules.isForOrigin(request) || rules.forbidsStoring(request)) {
      return passOn(o, { lookup, response, ways, complete, forwarded: "bypass" });
    }
    const fresh = findFresh(lookup);
    if (fresh) return send(response, fresh, complete);
    const entry = store.find(lookup.key, lookup.selecting);
    const isDemanded = mustValidate(request);
    if (entry && !isDemanded && !isFresh(entry, nowMs()) && stale.mayWhileRevalidating(entry)) {
      together.refresh(lookup, ways, entry);
      observe({ kind: "stale", because: "while-revalidate" });
      return sendStale(o, response, request, entry, complete);
    }
    if (entry && isDemanded && stale.mayAfterError(entry)) {
      observe({ kind: "stale", because: "if-error" });
      return sendStale(o, response, request, entry, complete);
    }
    if (rules.forbidsAsking(request)) return refuse(response, complete);
    const wanted = { lookup, response, ways, complete, entry, forwarded: whyForwarded(lookup, entry), isDemanded };
    const isHead = request.method === "HEAD";
    // A `HEAD` with `no-cache` validates what is stored as `GET` does, so that the two together cause one request to the origin.
    if (!isHead || (isDemanded && entry)) {
      if ((await together.read(wanted)) || response.destroyed) return;
    }
    if (isHead) return passOn(o, { ...wanted, onAnswer: head(lookup) });
    await readAlone(wanted);
  }

  function whyForwarded({ key }: CacheLookup, entry: Entry | undefined): Forwarded {
    if (entry) return isFresh(entry, nowMs()) ? "request" : "stale";
    return store.variants(key).length > 0 ? "vary-miss" : "uri-miss";
  }

  async function readAlone(wanted: Wanted): Promise<void> {
    const signal = createDisconnectSignal(wanted.response);
    const ask = wanted.ways.forClient;
    await fetcher.fetch({ ...wanted, ask, signal, withConditions: true, isWanted: () => false });
  }

  /** RFC 9111, 5.2.1.7. */
  function refuse(response: ServerResponse, complete: CompleteHeaders): void {
    send(
      response,
      { status: 504, headers: ["Cache-Status", o.name, "Content-Length", "0"], body: undefined },
      complete,
    );
  }

  return { findFresh, read };
}
