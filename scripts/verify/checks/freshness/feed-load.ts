// The part `feed-load` of freshness: measures the lag of the change feed of posts while many changes are written.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createFeedFollower } from "@tributary/kit/feed/feed-follower";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import { startPlatform } from "../../platform/platform.ts";
import type { FreshnessPart } from "./part.ts";

const changesPerSecond = 1_000;
const regularRate = { batchSize: 1, perSecond: changesPerSecond };
/** A batch is larger than `batchChangesMax` in kit/src/feed/outbox.ts, so the readers get a reset. */
const controlRate = { batchSize: 12_000, perSecond: 24_000 };
const writtenShareMin = 0.95;
const readersCount = 5;
const writersCount = 4;
const judgedSeconds = 10;
const p99MsMax = 250;
/** The time for the last events after the last write. */
const drainMs = 1_500;
const pollMs = 50;
/** The shortest interval at which a replica of a service notifies the others. */
const notifyEveryMs = 10;
const firstId = 1_000_000;
const insertChanges = `insert into feed_changes (kind, after)
  select 'post', jsonb_build_object('id', id::text, 'authorId', '1', 'status', 'PUBLISHED') from generate_series($1::int, $2::int) as id`;

export const feedLoadPart: FreshnessPart = {
  name: "feed-load",
  purpose: `with ${changesPerSecond} changes a second, ${readersCount} readers know each of them soon`,
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "more changes than fit in a batch are written at a time",
  async run({ options, isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: false, replicas: { posts: 2 } });
    const sentMsByGroup = new Map<string, number>();
    const arrivals: Arrival[] = [];
    let resets = 0;
    const followers = Array.from({ length: readersCount }, (_, index) =>
      createFeedFollower({
        urls: [platform.replicas.posts[index % 2]?.feedUrl ?? ""],
        key: endpointKeys.FEED_KEYS,
        onReset() {
          resets++;
        },
        onState: () => {},
        onChanges(groups) {
          const nowMs = performance.now();
          for (const group of groups) {
            const sentMs = sentMsByGroup.get(group);
            // A change also invalidates the groups of lists.
            if (sentMs === undefined) continue;
            arrivals.push({ sentMs, lagMs: nowMs - sentMs });
          }
        },
      }),
    );
    onCleanup(() => Promise.all(followers.map((follower) => follower.close())));
    while (!followers.every((follower) => follower.isUp())) await sleep(pollMs);
    // The first event of each reader's stream is a reset.
    resets = 0;
    const { batchSize, perSecond } = isControl ? controlRate : regularRate;
    const endMs = performance.now() + options.seconds * 1_000;
    const written = await writeChanges(platform.databaseUrls.posts, { endMs, sentMsByGroup, batchSize, perSecond });
    await sleep(drainMs);
    const received = arrivals.length;
    const expected = written * readersCount;
    const judgedFromMs = endMs - judgedSeconds * 1_000;
    const lagsMs = arrivals.filter(({ sentMs }) => sentMs > judgedFromMs).map(({ lagMs }) => lagMs);
    const p99Ms = quantile(lagsMs, 0.99);
    const medianMs = quantile(lagsMs, 0.5);
    print(
      `${written} changes, ${received} received by ${readersCount} readers, ${resets} resets; lag median ${medianMs.toFixed(1)} ms`,
    );
    claim(
      `in the last ${judgedSeconds} s the lag is at most ${p99MsMax} ms at the 99th percentile`,
      p99Ms <= p99MsMax,
      {
        measured: `${p99Ms.toFixed(1)} ms`,
      },
    );
    claim("every reader gets every change, without a reset", received === expected && resets === 0, {
      measured: `${received} of ${expected}, ${resets} resets`,
      control: "fails",
    });
    const writtenMin = options.seconds * changesPerSecond * writtenShareMin;
    claim(`${changesPerSecond} changes a second are written`, written >= writtenMin, {
      measured: `${Math.round(written / options.seconds)} a second`,
    });
  },
};

/** A change that a reader got. */
interface Arrival {
  readonly sentMs: number;
  /** From the start of the write. */
  readonly lagMs: number;
}

interface Writing {
  readonly endMs: number;
  /** By cache group: when the statement was sent, so that a lag includes the write. */
  readonly sentMsByGroup: Map<string, number>;
  /** Changes in each transaction. */
  readonly batchSize: number;
  readonly perSecond: number;
}

/** Inserts changes into the outbox of posts, and notifies its replicas as a replica does after its writes. @returns the number of changes. */
async function writeChanges(url: string, { endMs, sentMsByGroup, batchSize, perSecond }: Writing): Promise<number> {
  const startedMs = performance.now();
  let written = 0;
  async function writeUntilEnd(): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
        const dueChanges = ((nowMs - startedMs) / 1_000) * perSecond;
        if (written + batchSize > dueChanges) {
          await sleep(1);
          continue;
        }
        const batchFirstId = firstId + written;
        const batchLastId = batchFirstId + batchSize - 1;
        written += batchSize;
        for (let id = batchFirstId; id <= batchLastId; id++) sentMsByGroup.set(`posts:${id}`, nowMs);
        await client.query({ name: "change", text: insertChanges, values: [batchFirstId, batchLastId] });
      }
    } finally {
      await client.end();
    }
  }
  const notifying = notifyUntil(url, endMs);
  await Promise.all(Array.from({ length: writersCount }, writeUntilEnd));
  await notifying;
  return written;
}

async function notifyUntil(url: string, endMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  while (performance.now() < endMs) {
    await client.query("notify feed_changes");
    await sleep(notifyEveryMs);
  }
  await client.end();
}
