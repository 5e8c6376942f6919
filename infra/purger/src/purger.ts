import { createFeedFollower } from "@tributary/kit/feed/feed-follower";
import type { FeedStateObservation } from "@tributary/kit/feed/feed-telemetry";
import { isGroupName } from "@tributary/kit/rest/caching";
import { CachePurger, type PurgeObservation } from "./cache-purger.ts";
import type { PurgeTarget } from "./purge-request.ts";

export interface PurgerOptions {
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  readonly targets: readonly PurgeTarget[];
  readonly queueMax: number;
  readonly requestTimeoutMs: number;
  readonly observe: (observation: PurgerObservation) => void;
}

export type PurgerObservation =
  | PurgeObservation
  /** Changes of the service may be unknown, as at the start: all its responses are purged. */
  | { readonly kind: "reset"; readonly service: string }
  | FeedStateObservation;

export interface Purger {
  /** Whether every feed is up and every cache has accepted its last purge. Each feed begins with the purge of its whole service. */
  isReady(): boolean;
  sizes(): readonly { readonly url: string; readonly size: number }[];
  /** Closes the feeds, then sends the purges that wait. */
  close(): Promise<void>;
}

export function createPurger(options: PurgerOptions): Purger {
  const { feedUrls, feedKey, targets, queueMax, requestTimeoutMs, observe } = options;
  const caches = targets.map((target) => new CachePurger({ target, queueMax, requestTimeoutMs, observe }));
  const followers = Object.entries(feedUrls).map(([service, urls]) =>
    createFeedFollower({
      urls,
      key: feedKey,
      onChanges(groups) {
        // With longer names a request could exceed what a cache accepts. It would be repeated for ever, with the purges of other services in it.
        const areValid = groups.every(isGroupName);
        for (const cache of caches) {
          if (areValid) cache.purgeGroups(service, groups);
          else cache.purgeService(service);
        }
      },
      // Also the first event of a stream without a position: this process may have missed any change before it.
      onReset() {
        observe({ kind: "reset", service });
        for (const cache of caches) cache.purgeService(service);
      },
      onState: (state, cause) => observe({ kind: "feed-state", service, state, cause }),
    }),
  );
  return {
    isReady: () => followers.every((follower) => follower.isUp()) && caches.every((cache) => cache.isUpToDate()),
    sizes: () => caches.map((cache) => ({ url: cache.url, size: cache.size() })),
    async close() {
      await Promise.all(followers.map((follower) => follower.close()));
      await Promise.all(caches.map((cache) => cache.close()));
    },
  };
}
