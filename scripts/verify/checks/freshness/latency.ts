// The part `latency` of freshness: measures how long after a write reads without a receipt get the older value from the REST proxy.
import { quantile } from "../../../../bench/measure/quantile.ts";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 50;
const p99MsMax = 100;
const longestMsMax = 1_000;
/** Without a feed, reads are stale for many seconds after each write. */
const controlSamplesMax = 5;
/** Every tenth write is a SQL statement, as a script would send it; the others are GraphQL mutations. */
const sqlEvery = 10;

export const latencyPart: FreshnessPart = {
  name: "latency",
  purpose: "without a receipt the last stale read comes shortly after the write",
  control: "the REST proxy has no feed",
  async run({ options, isControl, claim, onCleanup }) {
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
    const readTitle = async (id: string) => (await client.readByRest(proxy, id, { isAnonymous: true })).title;
    // A write through the REST proxy would invalidate its cache at once. These writes invalidate it by the feed.
    const writeByGraphql = async (id: string, title: string) => {
      const { receipt } = await client.writeByGraphql(gateway, id, title);
      if (receipt === undefined) throw new Error("A write was not acknowledged.");
    };
    const writeBySql = (id: string, title: string) =>
      platform.postgres.query("posts", "update posts set title = $2 where id = $1", [id, title]);

    const staleMsOf: Record<"GraphQL" | "SQL", number[]> = { GraphQL: [], SQL: [] };
    const samplesCount = isControl ? Math.min(controlSamplesMax, options.samples) : options.samples;
    for (let sample = 0; sample < samplesCount; sample++) {
      const id = String(1 + (sample % postsCount));
      const newTitle = `sample ${sample}`;
      // Twice, so that the response is in the cache.
      await readTitle(id);
      await readTitle(id);
      const isSql = sample % sqlEvery === 0;
      await (isSql ? writeBySql(id, newTitle) : writeByGraphql(id, newTitle));
      const writtenMs = performance.now();
      let lastStaleMs = 0;
      while ((await readTitle(id)) !== newTitle) lastStaleMs = performance.now() - writtenMs;
      staleMsOf[isSql ? "SQL" : "GraphQL"].push(lastStaleMs);
    }
    const claimAtMost = (text: string, ms: number, msMax: number) =>
      claim(`${text} is at most ${msMax} ms after the write`, ms <= msMax, {
        measured: `${ms.toFixed(1)} ms`,
        control: "fails",
      });
    claimAtMost("the last stale read, at the 99th percentile,", quantile(staleMsOf.GraphQL, 0.99), p99MsMax);
    claimAtMost("the latest of all stale reads", Math.max(...staleMsOf.GraphQL), longestMsMax);
    claimAtMost("the latest after a write by SQL, as by a script,", Math.max(...staleMsOf.SQL), longestMsMax);
  },
};
