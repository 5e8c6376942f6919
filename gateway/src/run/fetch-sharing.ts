// Stage 4 of 5: run. Equal reads in flight are sent once, and all client requests that wait for one get the same result object. Its content never
// changes. One FetchSharing per supergraph; off with FETCH_SHARING=false.
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { AbortSource } from "@tributary/kit/http/abort-source";
import { abortedFetch } from "./subgraph-client.ts";
import type { FetchResult } from "./subgraph-response.ts";

/** Sends a read, which the signal aborts. `share` calls it synchronously or never, so the caller knows on return whether it sends or joins a read. */
type SendRead = (signal: AbortSignalLike) => Promise<FetchResult>;

export interface FetchSharing {
  /**
   * The result of an equal read in flight, else of a new read that `send` sends. When `signal` is aborted, the promise resolves at once as an aborted
   * fetch; the read itself is aborted when all requests that wait for it are. `isShared` is set if several requests waited to the end: values
   * computed from the result are then memoized (caching/memoize-by-source.ts).
   */
  share(key: ReadKey, signal: AbortSignalLike, send: SendRead): Promise<FetchResult>;
}

/** Everything that a response may depend on. Of the forwarded headers, only `authorization`: no response depends on the request id or the trace. */
interface ReadKey {
  readonly service: string;
  readonly body: string;
  readonly authorization: string | undefined;
  /**
   * How many changes of the subgraph were known before the read was sent: mutations of this process that had settled (write-counts.ts), and changes
   * from its feed. A read joins only a read with the same count: an earlier one may not contain a write whose response a client already has.
   */
  readonly knownChanges: number;
  /** The client's receipts: a read joins only a read with the same receipts, which was sent after the writes that they prove. */
  readonly receipts: string | undefined;
}

/** The most reads in flight that other requests can join; further reads are sent alone. */
const inFlightReadsMax = 1_024;

interface InFlightRead {
  readonly key: ReadKey;
  readonly result: Promise<FetchResult>;
  readonly abortSource: AbortSource;
  waitersCount: number;
}

export function createFetchSharing(): FetchSharing {
  const reads = createReadTable();

  function start(key: ReadKey, send: SendRead): InFlightRead {
    const abortSource = new AbortSource();
    const read: InFlightRead = { key, result: send(abortSource), abortSource, waitersCount: 0 };
    // The table is full: no other request can join this read.
    if (!reads.add(read)) return read;
    read.result.then(
      (result) => complete(read, result),
      () => reads.remove(read),
    );
    return read;
  }

  function complete(read: InFlightRead, result: FetchResult): void {
    if (read.waitersCount > 1) result.isShared = true;
    reads.remove(read);
  }

  function leave(read: InFlightRead, reason: unknown): void {
    read.waitersCount--;
    if (read.waitersCount > 0) return;
    // Removed before it is aborted: no request may join an aborted read.
    reads.remove(read);
    read.abortSource.abort(reason);
  }

  function waitFor(read: InFlightRead, signal: AbortSignalLike): Promise<FetchResult> {
    read.waitersCount++;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave(read, signal.reason);
        resolve(abortedFetch(signal.reason));
      };
      signal.addEventListener("abort", onAbort);
      const settle = (resolveOrReject: () => void) => {
        signal.removeEventListener("abort", onAbort);
        resolveOrReject();
      };
      read.result.then(
        (result) => settle(() => resolve(result)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }

  return {
    share: (key, signal, send) => waitFor(reads.find(key) ?? start(key, send), signal),
  };
}

/**
 * Reads in flight, in 256 lists by the length of their bodies. A Map would hash each body, and it copies itself as entries come and go; the
 * old copies hold responses and are collected late. On responses of 90 KB that were not shared, garbage collection took 11 % of the time with
 * a Map, and 2 % with lists.
 */
function createReadTable() {
  const lists = Array.from({ length: 256 }, (): InFlightRead[] => []);
  let count = 0;

  const listOf = ({ body }: ReadKey) => lists[body.length % lists.length] as InFlightRead[];

  return {
    find: (key: ReadKey) => listOf(key).find((read) => isSameKey(read.key, key)),
    /** @returns false if the table is full. */
    add(read: InFlightRead): boolean {
      if (count >= inFlightReadsMax) return false;
      count++;
      listOf(read.key).push(read);
      return true;
    },
    /** Does nothing for a read that is not in the table. */
    remove(read: InFlightRead): void {
      const list = listOf(read.key);
      const index = list.indexOf(read);
      if (index < 0) return;
      count--;
      list.splice(index, 1);
    },
  };
}

/** Compares the bodies last: they are long. */
function isSameKey(a: ReadKey, b: ReadKey): boolean {
  if (a.knownChanges !== b.knownChanges || a.service !== b.service || a.receipts !== b.receipts) return false;
  return a.authorization === b.authorization && a.body === b.body;
}
