/** Follows the change feeds of the services: every write, by whichever endpoint, replica or script, invalidates what it changed in this process's cache. */
import type { ServiceWrite } from "@tributary/kit/consistency/receipts";
import { createFeedFollower, type FeedFollower } from "@tributary/kit/feed/feed-follower";
import type { SharedCache } from "../cache/shared-cache.ts";
import type { Observe } from "../telemetry/observations.ts";

export interface FeedsOptions {
  /** The feed's URLs of each service that has a feed. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  readonly cache: Pick<SharedCache, "invalidate" | "invalidateOrigin">;
  readonly observe: Observe;
}

export interface Feeds {
  /** Whether all changes of the service reach the cache. True for a service without a feed, whose responses are used by their own freshness. */
  isFollowed(service: string): boolean;
  /** Whether the changes of the write have reached the cache. Never for a service without a feed. */
  knows(write: ServiceWrite): boolean;
  /** Waits until `knows`, at most `timeoutMs`. Resolves with the result of `knows`. */
  waitFor(write: ServiceWrite, timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export function createFeeds({ feedUrls, feedKey, cache, observe }: FeedsOptions): Feeds {
  const followers = new Map<string, FeedFollower>();
  for (const [service, urls] of Object.entries(feedUrls)) {
    const follower = createFeedFollower({
      urls,
      key: feedKey,
      onChanges: (groups) => cache.invalidate({ groups, origin: service }),
      onReset: () => cache.invalidateOrigin(service),
      onState: (state, cause) => observe({ kind: "feed-state", service, state, cause }),
    });
    followers.set(service, follower);
  }
  return {
    isFollowed: (service) => followers.get(service)?.isUp() ?? true,
    knows: (write) => followers.get(write.service)?.knows(write) ?? false,
    waitFor: (write, timeoutMs) => followers.get(write.service)?.waitFor(write, timeoutMs) ?? Promise.resolve(false),
    async close() {
      await Promise.all([...followers.values()].map((follower) => follower.close()));
    },
  };
}
