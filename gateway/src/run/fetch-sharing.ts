// Stage 4 of 5: fetch it. Equal reads in flight are one read, unless a write settled between them: all get the same immutable response.
import { type AbortSignalLike, AbortSource } from "@tributary/kit/http/abort-source";
import type { AskedAnswer } from "./subgraph-response.ts";
import { endedReply } from "./subgraph-client.ts";

/** Starts a read; it ends early when the signal is aborted. */
type Start = (signal: AbortSignalLike) => Promise<AskedAnswer>;

export interface Sharing {
  share(read: SharedRead, signal: AbortSignalLike, start: Start): Promise<AskedAnswer>;
  /** Whether several have got this very answer. */
  isShared(answer: AskedAnswer): boolean;
}

/** Everything that a response depends on: of the headers that are forwarded, only `authorization`. */
interface SharedRead {
  readonly service: string;
  readonly body: string;
  readonly authorization: string | undefined;
  /**
   * Mutations to the subgraph that had settled before the read was sent (write-counts.ts). A read joins only a read with the same count: an
   * earlier one may not contain a write to which a client has the response.
   */
  readonly settledWrites: number;
}

/** Reads under way that others may join; beyond, each goes alone. */
const flightsMax = 1_024;

interface Flight {
  readonly read: SharedRead;
  readonly answer: Promise<AskedAnswer>;
  readonly end: AbortSource;
  waiting: number;
}

/** One that leaves takes nothing from the others; the last one to leave ends the read. */
export function createSharing(): Sharing {
  const flights = createFlightTable();
  const shared = new WeakSet<AskedAnswer>();

  function begin(read: SharedRead, start: Start): Flight {
    const end = new AbortSource();
    const flight: Flight = { read, answer: start(end), end, waiting: 0 };
    if (!flights.add(flight)) return flight;
    flight.answer.then(
      (answer) => land(flight, answer),
      () => flights.remove(flight),
    );
    return flight;
  }

  function land(flight: Flight, answer: AskedAnswer): void {
    if (flight.waiting > 1) shared.add(answer);
    flights.remove(flight);
  }

  function leave(flight: Flight, reason: unknown): void {
    flight.waiting--;
    if (flight.waiting > 0) return;
    // Nobody may join a read that is being ended.
    flights.remove(flight);
    flight.end.abort(reason);
  }

  /** Ends with the read or with the caller's own time, whichever is first. */
  function wait(flight: Flight, signal: AbortSignalLike): Promise<AskedAnswer> {
    flight.waiting++;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave(flight, signal.reason);
        resolve(endedReply(signal.reason));
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
    share: (read, signal, start) => wait(flights.find(read) ?? begin(read, start), signal),
    isShared: (answer) => shared.has(answer),
  };
}

/**
 * Flights by the length of their bodies, in lists that stay. A Map would read each body for its hash, and it copies itself as entries come
 * and go: its dead copies, grown old, hold answers that nobody needs. With it collection took 11 % of the time on answers of 90 KB that
 * nobody shared, and takes 2 % with this.
 */
function createFlightTable() {
  const lists = Array.from({ length: 256 }, (): Flight[] => []);
  let count = 0;

  const listOf = ({ body }: SharedRead) => lists[body.length % lists.length] as Flight[];

  return {
    find: (wanted: SharedRead) => listOf(wanted).find(({ read }) => isSame(read, wanted)),
    /** False when there is no room. */
    add(flight: Flight): boolean {
      if (count >= flightsMax) return false;
      count++;
      listOf(flight.read).push(flight);
      return true;
    },
    remove(flight: Flight): void {
      const list = listOf(flight.read);
      const at = list.indexOf(flight);
      if (at < 0) return;
      count--;
      list.splice(at, 1);
    },
  };
}

function isSame(one: SharedRead, other: SharedRead): boolean {
  if (one.settledWrites !== other.settledWrites || one.service !== other.service) return false;
  return one.authorization === other.authorization && one.body === other.body;
}
