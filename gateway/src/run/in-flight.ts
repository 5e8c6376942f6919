// Stage 4 of 5: fetch it. Equal reads that are under way at the same time are one read: all get the same answer, which nobody changes.
import type { CallerSignal } from "@tributary/kit/upstream";
import type { AskedAnswer } from "./subgraph-answer.ts";

/** Starts a read; it ends early when the signal is aborted. */
type Start = (signal: CallerSignal) => Promise<AskedAnswer>;

export interface Sharing {
  /** @param key everything that the answer depends on: the service, the body, every header that is passed on and means something. */
  share(key: string, signal: CallerSignal, start: Start): Promise<AskedAnswer>;
}

/** Reads under way that others may join; beyond, each goes alone. */
const flightsMax = 1_024;

interface Flight {
  readonly answer: Promise<AskedAnswer>;
  readonly abort: (reason: unknown) => void;
  waiting: number;
}

/** One that leaves takes nothing from the others; the last one to leave ends the read. */
export function createSharing(): Sharing {
  const flights = new Map<string, Flight>();

  function begin(key: string, start: Start): Flight {
    const { signal, abort } = createAbort();
    const flight: Flight = { answer: start(signal), abort, waiting: 0 };
    if (flights.size >= flightsMax) return flight;
    flights.set(key, flight);
    const land = () => close(key, flight);
    flight.answer.then(land, land);
    return flight;
  }

  function close(key: string, flight: Flight): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  function leave(key: string, flight: Flight, reason: unknown): void {
    flight.waiting--;
    if (flight.waiting > 0) return;
    // Nobody may join a read that is being ended.
    close(key, flight);
    flight.abort(reason);
  }

  /** Ends with the read or with the caller's own time, whichever is first. */
  function wait(key: string, flight: Flight, signal: CallerSignal): Promise<AskedAnswer> {
    flight.waiting++;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave(key, flight, signal.reason);
        resolve({ kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`aborted: ${String(signal.reason)}`) });
      };
      signal.addEventListener("abort", onAbort);
      const arrive = (settle: () => void) => {
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      flight.answer.then(
        (answer) => arrive(() => resolve(answer)),
        (error: unknown) => arrive(() => reject(error)),
      );
    });
  }

  return { share: (key, signal, start) => wait(key, flights.get(key) ?? begin(key, start), signal) };
}

/** An AbortController for one listener: every read has one, and few are ever aborted. */
function createAbort() {
  let listener: (() => void) | undefined;
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_: "abort", added: () => void) => void (listener = added),
    removeEventListener: () => void (listener = undefined),
  };
  function abort(reason: unknown): void {
    signal.aborted = true;
    signal.reason = reason;
    listener?.();
  }
  return { signal, abort };
}
