// The change feeds of all services that a gateway or a REST proxy follows.
import type { ServiceWrite } from "./receipts.ts";
import { createFeedFollower, type FeedFollower } from "../feed/feed-follower.ts";
import type { Revocations } from "../caller/revocations.ts";

export interface FeedsOptions {
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
  readonly revocations?: Revocations | undefined;
  /** Called before `knows` is true for the writes of these changes. */
  onChanges(service: string, groups: readonly string[]): void;
  /** Every response of the service may be outdated. */
  onReset(service: string): void;
  onState(service: string, state: "up" | "down", cause?: unknown): void;
}

export interface Feeds {
  /** Whether all changes of the service that are older than a second are known. Undefined for a service without a feed. */
  isUp(service: string): boolean | undefined;
  /** Which positions `knows` can compare. Undefined before the first event, and for a service without a feed. */
  epoch(service: string): string | undefined;
  /** Whether `onChanges` or `onReset` was called for the changes of the write. Always false for a service without a feed. */
  knows(write: ServiceWrite): boolean;
  /** At most 50 ms and a tenth of `timeoutMs`: a change arrives some milliseconds after its commit. @returns whether all are known. */
  waitFor(writes: readonly ServiceWrite[], timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

const waitMsMax = 50;

export function createFeeds({ feedUrls, feedKey, revocations, onChanges, onReset, onState }: FeedsOptions): Feeds {
  const followers = new Map<string, FeedFollower>();
  for (const [service, urls] of Object.entries(feedUrls)) {
    const follower = createFeedFollower({
      urls,
      key: feedKey,
      onChanges(groups, revoked) {
        revocations?.add(service, revoked);
        onChanges(service, groups);
      },
      onReset(revoked) {
        revocations?.replace(service, revoked);
        onReset(service);
      },
      onState: (state, cause) => onState(service, state, cause),
    });
    followers.set(service, follower);
  }
  return {
    isUp: (service) => followers.get(service)?.isUp(),
    epoch: (service) => followers.get(service)?.epoch(),
    knows: (write) => followers.get(write.service)?.knows(write) ?? false,
    async waitFor(writes, timeoutMs) {
      const waitMs = Math.min(waitMsMax, timeoutMs / 10);
      const waits = writes.map(
        (write) => followers.get(write.service)?.waitFor(write, waitMs) ?? Promise.resolve(false),
      );
      const areKnown = await Promise.all(waits);
      return areKnown.every(Boolean);
    },
    async close() {
      await Promise.all([...followers.values()].map((follower) => follower.close()));
    },
  };
}
