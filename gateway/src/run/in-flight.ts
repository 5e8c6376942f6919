// Stage 4 of 5: fetch it. Equal reads that are under way at the same time are one read: all get the same answer, which nobody changes.
import type { AskedAnswer } from "./subgraph-answer.ts";

/** Starts a read; it ends early when the signal is aborted. */
type Start = (signal: AbortSignal) => Promise<AskedAnswer>;

export interface Sharing {
  /** @param key everything that the answer depends on: the service, the body, every header that is passed on and means something. */
  share(key: string, signal: AbortSignal, start: Start): Promise<AskedAnswer>;
}

/** Reads under way that others may join; beyond, each goes alone. */
const flightsMax = 1_024;

interface Flight {
  readonly answer: Promise<AskedAnswer>;
  readonly controller: AbortController;
  waiting: number;
}

/** One that leaves takes nothing from the others; the last one to leave ends the read. */
export function createSharing(): Sharing {
  const flights = new Map<string, Flight>();

  function begin(key: string, start: Start): Flight {
    const controller = new AbortController();
    const answer = start(controller.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    const flight: Flight = { answer, controller, waiting: 0 };
    if (flights.size < flightsMax) flights.set(key, flight);
    return flight;
  }

  function leave(key: string, flight: Flight, reason: unknown): void {
    flight.waiting--;
    if (flight.waiting > 0) return;
    // Nobody may join a read that is being ended.
    if (flights.get(key) === flight) flights.delete(key);
    flight.controller.abort(reason);
  }

  return {
    share(key, signal, start) {
      const flight = flights.get(key) ?? begin(key, start);
      flight.waiting++;
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          leave(key, flight, signal.reason);
          resolve({ kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`aborted: ${signal.reason}`) });
        };
        signal.addEventListener("abort", onAbort, { once: true });
        flight.answer.finally(() => signal.removeEventListener("abort", onAbort)).then(resolve, reject);
      });
    },
  };
}
