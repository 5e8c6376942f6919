// The part `feed-load` of freshness: measures the lag of the change feed of posts while many changes are written.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createFeedFollower } from "@tributary/kit/feed/feed-follower";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import { startPlatform } from "../../platform/platform.ts";
import { startLoad } from "../../traffic/open-loop.ts";
import type { FreshnessPart, PartRun } from "./part.ts";

const changesPerSecond = 1_000;
const regularLoad = { batchSize: 1, perSecond: changesPerSecond };
/** A batch is larger than `changesMax` in kit/src/feed/outbox.ts, so the readers get a reset. */
const controlLoad = { batchSize: 12_000, perSecond: 2 };
const readersCount = 5;
const writersCount = 4;
const p99MsMax = 250;
/** The time for the last events after the last write. */
const drainMs = 1_500;
/** The shortest interval at which a replica of a service notifies the others. */
const notifyEveryMs = 10;
const firstId = 1_000_000;
const insertChanges = `insert into feed_changes (kind, after)
  select 'post', jsonb_build_object('id', id::text, 'authorId', '1', 'status', 'PUBLISHED') from generate_series($1::int, $2::int) as id`;

export const feedLoadPart: FreshnessPart = {
  name: "feed-load",
  purpose: `with ${changesPerSecond} changes a second, ${readersCount} readers know each of them soon`,
  control: "more changes than fit in a batch are written at a time",
  async run({ options, isControl, claim, onCleanup }) {
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: false, replicas: { posts: 2 } });
    const sentMsByGroup = new Map<string, number>();
    const lagsMs: number[] = [];
    let resets = 0;
    const followers = Array.from({ length: readersCount }, (_, index) =>
      createFeedFollower({
        urls: [platform.replicas.posts[index % 2]?.feedUrl ?? ""],
        key: endpointKeys.FEED_KEYS,
        onReset: () => resets++,
        onState: () => {},
        onChanges(groups) {
          const nowMs = performance.now();
          // A change also invalidates the groups of lists.
          const sentMs = groups.map((group) => sentMsByGroup.get(group)).filter((ms) => ms !== undefined);
          lagsMs.push(...sentMs.map((ms) => nowMs - ms));
        },
      }),
    );
    onCleanup(() => Promise.all(followers.map((follower) => follower.close())));
    while (!followers.every((follower) => follower.isUp())) await sleep(50);
    // The first event of each reader's stream is a reset.
    resets = 0;
    await writeChanges(platform.databaseUrls.posts, sentMsByGroup, {
      ...(isControl ? controlLoad : regularLoad),
      ...options,
    });
    await sleep(drainMs);
    const p99Ms = quantile(lagsMs, 0.99);
    claim(`the lag is at most ${p99MsMax} ms at the 99th percentile`, p99Ms <= p99MsMax, {
      measured: `${p99Ms.toFixed(1)} ms`,
    });
    const expected = sentMsByGroup.size * readersCount;
    claim("every reader gets every change, without a reset", lagsMs.length === expected && resets === 0, {
      measured: `${lagsMs.length} of ${expected}, ${resets} resets`,
      control: "fails",
    });
  },
};

/** Inserts changes into the outbox of posts, and notifies its replicas as a replica does after its writes. @throws Error if one fails. */
async function writeChanges(
  url: string,
  sentMsByGroup: Map<string, number>,
  { seconds, batchSize, perSecond }: { batchSize: number; perSecond: number } & Pick<PartRun["options"], "seconds">,
): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: writersCount });
  const notifying = setInterval(() => void pool.query("notify feed_changes").catch(() => {}), notifyEveryMs);
  const load = startLoad({
    perSecond,
    async send(batchNumber) {
      const batchFirstId = firstId + batchNumber * batchSize;
      const ids = Array.from({ length: batchSize }, (_, index) => batchFirstId + index);
      for (const id of ids) sentMsByGroup.set(`posts:${id}`, performance.now());
      await pool.query({ name: "change", text: insertChanges, values: [batchFirstId, ids.at(-1)] });
      return undefined;
    },
  });
  await sleep(seconds * 1_000);
  const { failures } = await load.stop();
  clearInterval(notifying);
  await pool.end();
  for (const [failure] of failures) throw new Error(failure);
}
