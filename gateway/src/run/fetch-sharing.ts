// Stage 4 of 5: run. Equal reads in flight are sent once; all requests that wait for one get the same immutable response.
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { AbortSource } from "@tributary/kit/http/abort-source";
import { abortedFetch } from "./subgraph-client.ts";
import type { FetchResult } from "./subgraph-response.ts";

/** Sends a read. The signal aborts it. */
type SendRead = (signal: AbortSignalLike) => Promise<FetchResult>;

export interface FetchSharing {
  /**
   * The result of an equal read in flight, else of a new one. It resolves early when `signal` is aborted; the read itself is aborted when
   * no request waits for it any more.
   */
  share(key: ReadKey, signal: AbortSignalLike, send: SendRead): Promise<FetchResult>;
  /** Whether several requests got this result. */
  isShared(result: FetchResult): boolean;
}

/** Everything that a response depends on. Of the forwarded headers this is only `authorization`. */
interface ReadKey {
  readonly service: string;
  readonly body: string;
  readonly authorization: string | undefined;
  /**
   * Mutations to the subgraph that had settled before the read was sent (write-counts.ts). A read joins only a read with the same count: an
   * earlier one may not contain a write whose response a client already has.
   */
  readonly settledWrites: number;
}

/** Reads in flight that others can join; further reads are sent alone. */
const inFlightReadsMax = 1_024;

interface InFlightRead {
  readonly key: ReadKey;
  readonly result: Promise<FetchResult>;
  readonly abortSource: AbortSource;
  waitersCount: number;
}

export function createFetchSharing(): FetchSharing {
  const reads = createReadTable();
  const sharedResults = new WeakSet<FetchResult>();

  function start(key: ReadKey, send: SendRead): InFlightRead {
    const abortSource = new AbortSource();
    const read: InFlightRead = { key, result: send(abortSource), abortSource, waitersCount: 0 };
    if (!reads.add(read)) return read;
    read.result.then(
      (result) => complete(read, result),
      () => reads.remove(read),
    );
    return read;
  }

  function complete(read: InFlightRead, result: FetchResult): void {
    if (read.waitersCount > 1) sharedResults.add(result);
    reads.remove(read);
  }

  function leave(read: InFlightRead, reason: unknown): void {
    read.waitersCount--;
    if (read.waitersCount > 0) return;
    // First removed: no request may join a read that is aborted.
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
    isShared: (result) => sharedResults.has(result),
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
    find: (wanted: ReadKey) => listOf(wanted).find(({ key }) => isSame(key, wanted)),
    /** @returns false if the table is full. */
    add(read: InFlightRead): boolean {
      if (count >= inFlightReadsMax) return false;
      count++;
      listOf(read.key).push(read);
      return true;
    },
    remove(read: InFlightRead): void {
      const list = listOf(read.key);
      const at = list.indexOf(read);
      if (at < 0) return;
      count--;
      list.splice(at, 1);
    },
  };
}

function isSame(one: ReadKey, other: ReadKey): boolean {
  if (one.settledWrites !== other.settledWrites || one.service !== other.service) return false;
  return one.authorization === other.authorization && one.body === other.body;
}
