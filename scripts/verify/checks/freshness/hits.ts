// The part `hits` of freshness: compares the hits of the REST proxy's cache and of the gateway's entity cache with those of an ideal cache.
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
  purpose: `of ${keysCount} posts, requested by Zipf's law (${exponent}) with ${writeShare * 100} % writes, the REST proxy and the gateway have most responses in their caches`,
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
    const gateway = replicaOf(platform, "gateway");
    const write = async (id: string, text: string) => {
      const { receipt } = await client.writeByGraphql(gateway.url, id, text);
      if (receipt === undefined) throw new Error("A write was not acknowledged.");
    };
    const compare = (cache: string, { reads, hits, oracle }: Counts) => {
      print(`${cache}: ${reads} reads, ${hits} hits; the oracle has ${oracle}`);
      const share = hits / oracle;
      claim(
        `${cache}: at least ${shareOfOracleMin * 100} % of the hits of a cache that drops exactly what changed`,
        share >= shareOfOracleMin,
        { measured: `${(share * 100).toFixed(1)} %`, control: "fails" },
      );
    };
    const ofProxy = await runWorkload(write, async (id) => {
      const { cacheStatus } = await client.readByRest(proxy, id, { isAnonymous: true });
      return /; hit|collapsed/.test(cacheStatus);
    });
    compare("REST proxy", ofProxy);
    const hitsBefore = await countEntityHits(gateway.admin);
    const ofGateway = await runWorkload(write, async (id) => {
      const { title } = await client.readByGraphql(gateway.url, id);
      if (title === undefined) throw new Error(`Post ${id} was not read.`);
      // The response does not show hits of the entity cache: `countEntityHits` reads their number.
      return false;
    });
    compare("entity cache", { ...ofGateway, hits: (await countEntityHits(gateway.admin)) - hitsBefore });
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
  write: (id: string, text: string) => Promise<void>,
  read: (id: string) => Promise<boolean>,
): Promise<Counts> {
  const next = createZipf(keysCount);
  const known = new Set<string>();
  const counts = { reads: 0, hits: 0, oracle: 0 };
  let started = 0;
  async function work(): Promise<void> {
    while (started++ < operationsCount) {
      const id = String(next());
      if (Math.random() < writeShare) {
        await write(id, `write ${started}`);
        known.delete(id);
        continue;
      }
      counts.reads++;
      if (known.has(id)) counts.oracle++;
      known.add(id);
      if (await read(id)) counts.hits++;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return counts;
}

/** Results that the gateway has read from its entity cache since it started. */
async function countEntityHits(admin: string): Promise<number> {
  const text = await (await fetch(`http://${admin}/metrics`)).text();
  const line = /^tributary_gateway_entity_cache_lookups_total\{[^}]*subgraph="posts"[^}]*result="hit"[^}]*\} (\d+)$/m;
  return Number(line.exec(text)?.[1] ?? 0);
}

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
