// Stage 4 of 5: fetch it. Equal reads that are under way at the same time are one read: all get the same answer, which nobody changes.
import type { CallerSignal } from "@tributary/kit/upstream";
import type { AskedAnswer } from "./subgraph-answer.ts";

/** Starts a read; it ends early when the signal is aborted. */
type Start = (signal: CallerSignal) => Promise<AskedAnswer>;

export interface Sharing {
  share(read: SharedRead, signal: CallerSignal, start: Start): Promise<AskedAnswer>;
  /** Whether several have got this very answer. */
  isShared(answer: AskedAnswer): boolean;
}

/** Everything that an answer depends on: of the headers that are passed on, only one means something to it. */
export interface SharedRead {
  readonly service: string;
  readonly body: string;
  readonly authorization: string | undefined;
}

/** Reads under way that others may join; beyond, each goes alone. */
const flightsMax = 1_024;

interface Flight {
  readonly read: SharedRead;
  readonly answer: Promise<AskedAnswer>;
  readonly abort: (reason: unknown) => void;
  waiting: number;
}

/** One that leaves takes nothing from the others; the last one to leave ends the read. */
export function createSharing(): Sharing {
  /** By body: a text that has been looked for is found again without being read. */
  const flights = new Map<string, Flight[]>();
  const shared = new WeakSet<AskedAnswer>();
  let flightCount = 0;

  function find({ service, body, authorization }: SharedRead): Flight | undefined {
    return flights.get(body)?.find(({ read }) => read.service === service && read.authorization === authorization);
  }

  function begin(read: SharedRead, start: Start): Flight {
    const { signal, abort } = createAbort();
    const flight: Flight = { read, answer: start(signal), abort, waiting: 0 };
    if (flightCount >= flightsMax) return flight;
    flightCount++;
    const others = flights.get(read.body);
    if (others) others.push(flight);
    else flights.set(read.body, [flight]);
    flight.answer.then(
      (answer) => {
        if (flight.waiting > 1) shared.add(answer);
        close(flight);
      },
      () => close(flight),
    );
    return flight;
  }

  function close(flight: Flight): void {
    const { body } = flight.read;
    const alike = flights.get(body);
    if (!alike?.includes(flight)) return;
    flightCount--;
    if (alike.length > 1) alike.splice(alike.indexOf(flight), 1);
    else flights.delete(body);
  }

  function leave(flight: Flight, reason: unknown): void {
    flight.waiting--;
    if (flight.waiting > 0) return;
    // Nobody may join a read that is being ended.
    close(flight);
    flight.abort(reason);
  }

  /** Ends with the read or with the caller's own time, whichever is first. */
  function wait(flight: Flight, signal: CallerSignal): Promise<AskedAnswer> {
    flight.waiting++;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave(flight, signal.reason);
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

  return {
    share: (read, signal, start) => wait(find(read) ?? begin(read, start), signal),
    isShared: (answer) => shared.has(answer),
  };
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
