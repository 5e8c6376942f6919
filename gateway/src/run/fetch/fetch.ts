// Stage 4 of 5: run. The layers through which requests are sent to the subgraphs. supergraph-stages.ts composes them once per supergraph.
import { withEntityCache } from "./cached-fetch.ts";
import { withMemo } from "./fetch-memo.ts";
import { withSharing } from "./fetch-sharing.ts";
import { createSend, type SendOptions } from "./send-request.ts";
import { unsentFetch } from "./subgraph-client.ts";
import type { Fetch } from "./subgraph-request.ts";

export interface FetchOptions extends SendOptions {
  /** Whether equal reads in flight are sent once (FETCH_SHARING). */
  readonly fetchSharing: boolean;
}

/**
 * The order: a client request repeats nothing that it has, whatever the source. The entity cache is above sharing, so that what it lacks is fetched once
 * for all clients. It can wait for a feed, and send a second request after a first one; the signal is checked again below it.
 */
export function createFetch(o: FetchOptions): Fetch {
  const send = createSend(o);
  const sendOnce = unlessAborted(o.fetchSharing ? withSharing(send, o.fetchObserver) : send);
  return withMemo(o.entityCache ? unlessAborted(withEntityCache(sendOnce)) : sendOnce);
}

function unlessAborted(next: Fetch): Fetch {
  return (request, signal) => (signal.aborted ? Promise.resolve(unsentFetch()) : next(request, signal));
}
