import { createRandom } from "../../../seed/random.ts";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const keysCount = 1_000;
const exponent = 1.1;
const writeShare = 0.02;
const operationsCount = 20_000;
const concurrency = 8;
const shareOfOracleMin = 0.9;

export const hitsPart: FreshnessPart = {
  name: "hits",
  purpose: `of ${keysCount} posts, requested by Zipf's law (${exponent}) with ${writeShare * 100} % writes, the REST proxy has most responses in its cache`,
  control: "every write is published as a change of everything",
  async run({ isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 1 },
    });
    const { postgres } = platform;
    await postgres.query("posts", insertPosts, [keysCount]);
    if (isControl) {
      await postgres.query(
        "posts",
        `create function publish_all() returns trigger language plpgsql as $$ begin perform publish_everything(); return null; end $$;
         create trigger publish_all after update on posts for each statement execute function publish_all()`,
      );
    }
    const client = createPostClient(platform.token);
    const proxy = replicaOf(platform, "rest-proxy").url;
    const gateway = replicaOf(platform, "gateway").url;
    const next = createZipf(keysCount);
    /** The oracle: a cache that drops exactly what a write changes, and nothing else. */
    const known = new Set<string>();
    const counts = { reads: 0, hits: 0, oracle: 0 };
    let started = 0;
    async function work(): Promise<void> {
      while (started++ < operationsCount) {
        const id = String(next());
        if (Math.random() < writeShare) {
          const { receipt } = await client.writeByGraphql(gateway, id, `write ${started}`);
          if (receipt === undefined) throw new Error("A write was not acknowledged.");
          known.delete(id);
          continue;
        }
        counts.reads++;
        if (known.has(id)) counts.oracle++;
        known.add(id);
        const { cacheStatus } = await client.readByRest(proxy, id, { isAnonymous: true });
        if (/; hit|collapsed/.test(cacheStatus)) counts.hits++;
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work));
    const share = counts.hits / counts.oracle;
    print(`${counts.reads} reads, ${counts.hits} hits; the oracle has ${counts.oracle}`);
    claim(
      `at least ${shareOfOracleMin * 100} % of the hits of a cache that drops exactly what changed`,
      share >= shareOfOracleMin,
      {
        measured: `${(share * 100).toFixed(1)} %`,
        control: "fails",
      },
    );
  },
};

/** @returns a function that draws 1 to `count`, small numbers most often. */
function createZipf(count: number): () => number {
  const random = createRandom(19);
  const weights = Array.from({ length: count }, (_, index) => (index + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return () => {
    let rest = random.next() * total;
    const index = weights.findIndex((weight) => (rest -= weight) < 0);
    return index < 0 ? count : index + 1;
  };
}
