import type { FeedEvent } from "@tributary/kit/feed/change-feed";
import { readFeedStream } from "@tributary/kit/feed/feed-stream";
import type { FeedPosition } from "@tributary/kit/feed/position";
import { pollUntil } from "@tributary/kit/testing/poll-until";

export interface OpenFeed {
  readonly events: readonly FeedEvent[];
  /** Resolves also if the feed ends, or the condition does not hold in time. */
  until(isReached: () => boolean): Promise<void>;
  /** Why it ended; undefined while it is open. */
  readonly failure: () => string | undefined;
  close(): void;
}

const waitMsMax = 5_000;
const pollMs = 10;

/** As the gateway reads it. */
export function openFeed(feed: { readonly url: string; readonly key: string }, since?: FeedPosition): OpenFeed {
  const closing = new AbortController();
  const events: FeedEvent[] = [];
  let failure: string | undefined;
  const replica = { name: feed.url, origin: feed.url, path: "", addresses: [] };
  const { signal } = closing;
  readFeedStream({ replica, key: feed.key, since, signal, onEvent: (event) => events.push(event) }).catch(
    (error: unknown) => {
      failure = String(error);
    },
  );
  return {
    events,
    failure: () => failure,
    close: () => closing.abort(),
    async until(isReached) {
      await pollUntil(() => isReached() || failure !== undefined, { everyMs: pollMs, withinMs: waitMsMax });
    },
  };
}
