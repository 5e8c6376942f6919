// The part `latency` of freshness: measures how long after a write reads without a receipt get the older value from the REST proxy.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts, quantile } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 50;
/** A sample during which the event loop of this process was delayed for longer is discarded. */
const loopDelayMsMax = 50;
const p99MsMax = 100;
const longestMsMax = 1_000;
const controlSamplesMax = 5;
/** Every tenth write is a SQL statement, as a script would send it; the others are GraphQL mutations. */
const sqlEvery = 10;

export const latencyPart: FreshnessPart = {
  name: "latency",
  purpose: "without a receipt the last stale read comes shortly after the write",
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
    // A write through the REST proxy invalidates its cache at once. Writes by SQL and through the gateway invalidate it by the feed.
    const writeBySql = async (id: string, title: string) => {
      await platform.postgres.query("posts", "update posts set title = $2 where id = $1", [id, title]);
    };
    const writeByGraphql = async (id: string, title: string) => {
      const { receipt } = await client.writeByGraphql(gateway, id, title);
      if (receipt === undefined) throw new Error("A write was not acknowledged.");
    };
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const samplesMs: number[] = [];
    const sqlSamplesMs: number[] = [];
    let discarded = 0;
    // Without a feed, reads are stale for many seconds after each write.
    const samples = isControl ? Math.min(controlSamplesMax, options.samples) : options.samples;
    for (let at = 0; at < samples; at++) {
      const id = String(1 + (at % postsCount));
      const title = `sample ${at}`;
      // Twice, so that the response is in the cache.
      await client.readByRest(proxy, id, { isAnonymous: true });
      await client.readByRest(proxy, id, { isAnonymous: true });
      delay.reset();
      const isSql = at % sqlEvery === 0;
      await (isSql ? writeBySql : writeByGraphql)(id, title);
      const staleMs = await lastStaleMs(
        async () => (await client.readByRest(proxy, id, { isAnonymous: true })).title !== title,
      );
      if (delay.max / 1e6 > loopDelayMsMax) discarded++;
      else (isSql ? sqlSamplesMs : samplesMs).push(staleMs);
    }
    delay.disable();
    const [median, p99, longest] = [quantile(samplesMs, 0.5), quantile(samplesMs, 0.99), Math.max(...samplesMs)];
    print(
      `last stale read: median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
    );
    claim(`the last stale read is at most ${p99MsMax} ms after the write, at the 99th percentile`, p99 <= p99MsMax, {
      measured: `${p99.toFixed(1)} ms`,
      control: "fails",
    });
    claim(`no stale read is later than ${longestMsMax / 1_000} s after the write`, longest <= longestMsMax, {
      measured: `${longest.toFixed(1)} ms`,
      control: "fails",
    });
    const longestSql = Math.max(...sqlSamplesMs);
    claim(
      `no stale read is later than ${longestMsMax / 1_000} s after a write by SQL, as by a script`,
      longestSql <= longestMsMax,
      {
        measured: `${longestSql.toFixed(1)} ms`,
        control: "fails",
      },
    );
    claim("at most 5 % of the samples are discarded because this process was late", discarded <= samples * 0.05, {
      measured: `${discarded} of ${samples}`,
    });
  },
};

/** Reads until a read is not stale. @returns when the last stale response arrived, in milliseconds after the call; 0 for none. */
async function lastStaleMs(isStale: () => Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  let lastMs = 0;
  while (await isStale()) lastMs = performance.now() - startedMs;
  return lastMs;
}
