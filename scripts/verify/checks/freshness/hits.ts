// The part `hits` of freshness: compares the hits of the REST proxy's cache and of the gateway's entity cache with those of an ideal cache.
import { createRandom } from "../../../seed/random.ts";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 1_000;
const zipfExponent = 1.1;
const zipfSeed = 19;
const writeShare = 0.02;
const operationsCount = 20_000;
const concurrency = 8;
/** The minimum of a cache's hits, as a share of those of the oracle (`Counts`). */
const shareOfOracleMin = 0.9;
/** In `Cache-Status`: a hit, or the response to a coalesced request. */
const cacheHit = /; hit|collapsed/;
const entityHitsLine =
  /^tributary_gateway_entity_cache_lookups_total\{[^}]*subgraph="posts"[^}]*result="hit"[^}]*\} (\d+)$/m;

export const hitsPart: FreshnessPart = {
  name: "hits",
  purpose: `of ${postsCount} posts, requested by Zipf's law (${zipfExponent}) with ${writeShare * 100} % writes, the REST proxy and the gateway have most responses in their caches`,
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
  control: "every write is published as a change of everything, so it invalidates both caches as a whole",
  async run({ isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 1 },
    });
    const { postgres } = platform;
    await postgres.query("posts", insertPosts, [postsCount]);
    if (isControl) {
      await postgres.query(
        "posts",
        `create function publish_all() returns trigger language plpgsql as $$ begin perform publish_everything(); return null; end $$;
         create trigger publish_all after update on posts for each statement execute function publish_all()`,
      );
    }
    const client = createPostClient(platform.token);
    const proxyUrl = replicaOf(platform, "rest-proxy").url;
    const gateway = replicaOf(platform, "gateway");
    const write = async (id: string, title: string) => {
      const { receipt } = await client.writeByGraphql(gateway.url, id, title);
      if (receipt === undefined) throw new Error("A write was not acknowledged.");
    };
    const claimShare = (cache: string, { reads, hits, oracle }: Counts) => {
      print(`${cache}: ${reads} reads, ${hits} hits; the oracle has ${oracle}`);
      const share = hits / oracle;
      claim(
        `${cache}: at least ${shareOfOracleMin * 100} % of the hits of a cache that drops exactly what changed`,
        share >= shareOfOracleMin,
        { measured: `${(share * 100).toFixed(1)} %`, control: "fails" },
      );
    };
    const proxyCounts = await runWorkload(write, async (id) => {
      const { cacheStatus } = await client.readByRest(proxyUrl, id, { isAnonymous: true });
      return cacheHit.test(cacheStatus);
    });
    claimShare("REST proxy", proxyCounts);
    const hitsBefore = await countEntityHits(gateway.admin);
    const { reads, oracle } = await runWorkload(write, async (id) => {
      const { title } = await client.readByGraphql(gateway.url, id);
      if (title === undefined) throw new Error(`Post ${id} was not read.`);
      // The response does not show hits of the entity cache: `countEntityHits` reads their number.
      return false;
    });
    const hitsAfter = await countEntityHits(gateway.admin);
    claimShare("entity cache", { reads, hits: hitsAfter - hitsBefore, oracle });
  },
};

interface Counts {
  readonly reads: number;
  readonly hits: number;
  /** The hits of the oracle: a cache that drops exactly what a write changes, and nothing else. */
  readonly oracle: number;
}

/** @param read resolves to whether the read was a cache hit. */
async function runWorkload(
  write: (id: string, title: string) => Promise<void>,
  read: (id: string) => Promise<boolean>,
): Promise<Counts> {
  const drawId = createZipf(postsCount);
  const idsOfOracle = new Set<string>();
  const counts = { reads: 0, hits: 0, oracle: 0 };
  let started = 0;
  async function runClient(): Promise<void> {
    while (started < operationsCount) {
      started++;
      const id = String(drawId());
      const isWrite = Math.random() < writeShare;
      if (isWrite) {
        await write(id, `write ${started}`);
        idsOfOracle.delete(id);
        continue;
      }
      counts.reads++;
      if (idsOfOracle.has(id)) counts.oracle++;
      idsOfOracle.add(id);
      if (await read(id)) counts.hits++;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, runClient));
  return counts;
}

/** Results that the gateway has read from its entity cache since it started. */
async function countEntityHits(admin: string): Promise<number> {
  const response = await fetch(`http://${admin}/metrics`);
  const [, hits = 0] = entityHitsLine.exec(await response.text()) ?? [];
  return Number(hits);
}

/** @returns a function that draws 1 to `numberMax`, small numbers most often. */
function createZipf(numberMax: number): () => number {
  const random = createRandom(zipfSeed);
  const weights = Array.from({ length: numberMax }, (_, index) => (index + 1) ** -zipfExponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return () => {
    let rest = random.next() * total;
    for (const [index, weight] of weights.entries()) {
      rest -= weight;
      if (rest < 0) return index + 1;
    }
    // Because of rounding, a rest can remain after the last weight.
    return numberMax;
  };
}
