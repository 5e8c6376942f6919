// Stage 4 of 5: run. The layers of a fetch, composed once per supergraph.
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { toServiceDeadline } from "@tributary/kit/http/deadline";
import { withEntityCache } from "./cached-fetch.ts";
import { withJoining } from "./fetch-joining.ts";
import { withMemo } from "./fetch-memo.ts";
import { withSharing } from "./fetch-sharing.ts";
import { createSend, type SendOptions } from "./send-request.ts";
import { abandonedFetch } from "./subgraph-client.ts";
import type { Fetch, SubgraphRequest } from "./subgraph-request.ts";

export interface FetchOptions extends SendOptions {
  /** FETCH_SHARING. */
  readonly fetchSharing: boolean;
}

/**
 * From the outside: the memo of the client request, the entity cache, sharing, joining, the request itself. The entity cache is above sharing, so that what it lacks is fetched once for all clients; it can wait
 * for a feed and send two requests, so the signal is checked again below it.
 */
export function createFetch(o: FetchOptions): Fetch {
  const send = createSend(o);
  const sendOnce = o.fetchSharing ? withSharing(withJoining(send, o.fetchObserver), o.fetchObserver) : send;
  if (!o.entityCache) return withMemo(unlessOver(sendOnce));
  return withMemo(unlessOver(withEntityCache(unlessOver(sendOnce, () => performance.now()))));
}

function unlessOver(next: Fetch, nowMsOf = ({ dueMs }: SubgraphRequest) => dueMs): Fetch {
  return (request, signal) =>
    isOver(signal, nowMsOf(request)) ? Promise.resolve(abandonedFetch()) : next(request, signal);
}

/** Also with less than 6 ms left: `toServiceDeadline` keeps 5 ms for the response's way. */
function isOver({ aborted, endsAtMs = Infinity }: AbortSignalLike, nowMs: number): boolean {
  return aborted || toServiceDeadline(endsAtMs - nowMs) <= 0;
}
