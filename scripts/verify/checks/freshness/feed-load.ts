// The part `feed-load` of freshness: measures the lag of the change feed of posts while many changes are written.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createFeedFollower } from "@tributary/kit/feed/feed-follower";
import { endpointKeys } from "../../platform/part-process.ts";
import { startPlatform } from "../../platform/platform.ts";
import { quantile } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const rowsPerSecond = 1_000;
const readersCount = 5;
const writersCount = 4;
const judgedSeconds = 10;
const p99MsMax = 250;

export const feedLoadPart: FreshnessPart = {
  name: "feed-load",
  purpose: `with ${rowsPerSecond} changes a second, ${readersCount} readers know each of them soon`,
  control: "more changes than fit in a batch are written at a time",
  async run({ options, isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: false, replicas: { posts: 2 } });
    const sentMs = new Map<string, number>();
    const lagsMs: number[] = [];
    let received = 0;
    let resets = 0;
    // The 2 s are for the followers to connect before the first write.
    const endMs = performance.now() + 2_000 + options.seconds * 1_000;
    const followers = Array.from({ length: readersCount }, (_, at) =>
      createFeedFollower({
        urls: [platform.replicas.posts[at % 2]?.feedUrl ?? ""],
        key: endpointKeys.FEED_KEYS,
        onReset: () => void resets++,
        onState: () => {},
        onChanges(groups) {
          const nowMs = performance.now();
          for (const group of groups) {
            const atMs = sentMs.get(group);
            if (atMs === undefined) continue;
            received++;
            if (atMs > endMs - judgedSeconds * 1_000) lagsMs.push(nowMs - atMs);
          }
        },
      }),
    );
    onCleanup(() => Promise.all(followers.map((follower) => follower.close())));
    while (!followers.every((follower) => follower.isUp())) await sleep(50);
    // The first event of each reader's stream is a reset.
    resets = 0;
    const count = await writeChanges(platform.databaseUrls.posts, {
      ...{ endMs, sentMs },
      batch: isControl ? 12_000 : 1,
      perSecond: isControl ? 24_000 : rowsPerSecond,
    });
    // The last events arrive after the last write.
    await sleep(1_500);
    const p99 = quantile(lagsMs, 0.99);
    print(
      `${count} changes, ${received} received by ${readersCount} readers, ${resets} resets; lag median ${quantile(lagsMs, 0.5).toFixed(1)} ms`,
    );
    claim(`in the last ${judgedSeconds} s the lag is at most ${p99MsMax} ms at the 99th percentile`, p99 <= p99MsMax, {
      measured: `${p99.toFixed(1)} ms`,
    });
    claim("every reader gets every change, without a reset", received === count * readersCount && resets === 0, {
      measured: `${received} of ${count * readersCount}, ${resets} resets`,
      control: "fails",
    });
    claim(`${rowsPerSecond} changes a second are written`, count >= options.seconds * rowsPerSecond * 0.95, {
      measured: `${Math.round(count / options.seconds)} a second`,
    });
  },
};

interface Writing {
  readonly endMs: number;
  /** By cache group: when the statement was sent, so that a lag includes the write. */
  readonly sentMs: Map<string, number>;
  /** Changes in each transaction. */
  readonly batch: number;
  readonly perSecond: number;
}

/** Inserts changes into the outbox of posts, and notifies its replicas as a replica does after its writes. @returns the number of changes. */
async function writeChanges(url: string, { endMs, sentMs, batch, perSecond }: Writing): Promise<number> {
  const startedMs = performance.now();
  let count = 0;
  async function write(): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
        if (count + batch > ((nowMs - startedMs) / 1_000) * perSecond) {
          await sleep(1);
          continue;
        }
        const first = firstId + count;
        count += batch;
        for (let at = 0; at < batch; at++) sentMs.set(`posts:${first + at}`, nowMs);
        await client.query({ name: "change", text: insertChanges, values: [first, first + batch - 1] });
      }
    } finally {
      await client.end();
    }
  }
  const notifying = notifyUntil(url, endMs);
  await Promise.all(Array.from({ length: writersCount }, write));
  await notifying;
  return count;
}

const firstId = 1_000_000;
const insertChanges = `insert into feed_changes (kind, after)
  select 'post', jsonb_build_object('id', id::text, 'authorId', '1', 'status', 'PUBLISHED') from generate_series($1::int, $2::int) as id`;

async function notifyUntil(url: string, endMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  while (performance.now() < endMs) {
    await client.query("notify feed_changes");
    await sleep(notifyEveryMs);
  }
  await client.end();
}

/** The shortest interval at which a replica of a service notifies the others. */
const notifyEveryMs = 10;
