// The part `latency` of freshness: measures how long after a write reads without a receipt get the older value from the REST proxy.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart, PartRun } from "./part.ts";

const postsCount = 50;
/** A sample during which the event loop of this process was delayed for longer is discarded. */
const loopDelayMsMax = 50;
const discardedShareMax = 0.05;
const nanosecondsPerMs = 1e6;
const p99MsMax = 100;
const longestMsMax = 1_000;
const controlSamplesMax = 5;
/** Every tenth write is a SQL statement, as a script would send it; the others are GraphQL mutations. */
const sqlEvery = 10;

export const latencyPart: FreshnessPart = {
  name: "latency",
  purpose: "without a receipt the last stale read comes shortly after the write",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "the REST proxy has no feed",
  async run({ options, isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 1 },
      environment: (part) => (isControl && part === "rest-proxy" ? { POSTS_FEED_URL: "none" } : {}),
    });
    await platform.postgres.query("posts", insertPosts, [postsCount]);
    const client = createPostClient(platform.token);
    const proxy = replicaOf(platform, "rest-proxy").url;
    const gateway = replicaOf(platform, "gateway").url;
    // A write through the REST proxy would invalidate its cache at once. Writes by SQL and through the gateway invalidate it by the feed.
    const writeBySql = async (id: string, title: string) => {
      await platform.postgres.query("posts", "update posts set title = $2 where id = $1", [id, title]);
    };
    const writeByGraphql = async (id: string, title: string) => {
      const { receipt } = await client.writeByGraphql(gateway, id, title);
      if (receipt === undefined) throw new Error("A write was not acknowledged.");
    };
    const loopDelay = monitorEventLoopDelay({ resolution: 10 });
    loopDelay.enable();
    const graphqlSamplesMs: number[] = [];
    const sqlSamplesMs: number[] = [];
    let discarded = 0;
    // Without a feed, reads are stale for many seconds after each write.
    const samplesCount = isControl ? Math.min(controlSamplesMax, options.samples) : options.samples;
    for (let sample = 0; sample < samplesCount; sample++) {
      const id = String(1 + (sample % postsCount));
      const newTitle = `sample ${sample}`;
      // Twice, so that the response is in the cache.
      await client.readByRest(proxy, id, { isAnonymous: true });
      await client.readByRest(proxy, id, { isAnonymous: true });
      loopDelay.reset();
      const isSql = sample % sqlEvery === 0;
      if (isSql) await writeBySql(id, newTitle);
      else await writeByGraphql(id, newTitle);
      const staleMs = await measureStaleMs(async () => {
        const { title } = await client.readByRest(proxy, id, { isAnonymous: true });
        return title !== newTitle;
      });
      const isDelayed = loopDelay.max / nanosecondsPerMs > loopDelayMsMax;
      if (isDelayed) discarded++;
      else if (isSql) sqlSamplesMs.push(staleMs);
      else graphqlSamplesMs.push(staleMs);
    }
    loopDelay.disable();
    claimStaleMs(graphqlSamplesMs, sqlSamplesMs, { claim, print });
    const discardedMax = samplesCount * discardedShareMax;
    claim("at most 5 % of the samples are discarded because this process was late", discarded <= discardedMax, {
      measured: `${discarded} of ${samplesCount}`,
    });
  },
};

function claimStaleMs(
  graphqlSamplesMs: readonly number[],
  sqlSamplesMs: readonly number[],
  { claim, print }: Pick<PartRun, "claim" | "print">,
): void {
  const medianMs = quantile(graphqlSamplesMs, 0.5);
  const p99Ms = quantile(graphqlSamplesMs, 0.99);
  const longestMs = Math.max(...graphqlSamplesMs);
  print(
    `last stale read: median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms`,
  );
  claim(`the last stale read is at most ${p99MsMax} ms after the write, at the 99th percentile`, p99Ms <= p99MsMax, {
    measured: `${p99Ms.toFixed(1)} ms`,
    control: "fails",
  });
  claim(`no stale read is later than ${longestMsMax / 1_000} s after the write`, longestMs <= longestMsMax, {
    measured: `${longestMs.toFixed(1)} ms`,
    control: "fails",
  });
  const longestSqlMs = Math.max(...sqlSamplesMs);
  claim(
    `no stale read is later than ${longestMsMax / 1_000} s after a write by SQL, as by a script`,
    longestSqlMs <= longestMsMax,
    {
      measured: `${longestSqlMs.toFixed(1)} ms`,
      control: "fails",
    },
  );
}

/** Reads until a read is not stale. @returns when the last stale response arrived, in milliseconds after the call; 0 for none. */
async function measureStaleMs(isStale: () => Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  let lastMs = 0;
  while (await isStale()) lastMs = performance.now() - startedMs;
  return lastMs;
}
