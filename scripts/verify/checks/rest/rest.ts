// Concurrent writes and reads through one REST proxy. After the response to a write, no read may return older data.
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { defineVerification } from "../../verification.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { read, type RestTrafficCounts, write } from "./reads-and-writes.ts";

const postCount = 20;
/** Each worker sends one operation after the other. */
const workerCount = 16;
/** Every fifth operation is a write. */
const writesEvery = 5;
const progressEvery = 2_000;
const printedExamplesMax = 5;

export const rest = defineVerification({
  name: "rest",
  summary: "no read through a REST proxy returns older data than a write through it that was confirmed before",
  description: `Starts posts, comments and one REST proxy, then writes and reads concurrently through the proxy. A read that starts after the response
to a write must include that write, also from the proxy's cache. Other replicas and writes through GraphQL are part of the verification
\`freshness\`.`,
  options: {
    operations: {
      kind: "number",
      min: 1,
      max: 1_000_000,
      fallback: 10_000,
      quick: 2_000,
      why: "reads and writes, every fifth a write",
    },
  },
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
  control: "writes go to the services, so the proxy's cache does not see them",
  async run({ options, isControl, print, claim, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 1, comments: 1, "rest-proxy": 1 },
    });
    const ledger = createLedger(await createPosts(platform));
    const counts = await sendAll(platform, { ledger, isControl, operations: options.operations, print });
    const { reads, writes, hits, stale, failures } = counts;
    print(`\n${toText(writes)} writes, ${toText(reads)} reads, of them ${toText(hits)} from the proxy's cache`);
    const examples = [...failures, ...stale].slice(0, printedExamplesMax);
    for (const example of examples) print(`  ${example}`);
    claim("every request succeeds", failures.length === 0, { control: "holds" });
    claim("some reads come from the cache", hits > 0, { control: "holds" });
    claim("no read is older than a write that was confirmed before it", stale.length === 0, {
      measured: `${stale.length} are`,
      control: "fails",
    });
  },
});

interface TrafficOptions {
  readonly ledger: Ledger;
  readonly isControl: boolean;
  readonly operations: number;
  readonly print: (line: string) => void;
}

async function sendAll(
  platform: Platform,
  { ledger, isControl, operations, print }: TrafficOptions,
): Promise<RestTrafficCounts> {
  const proxy = replicaOf(platform, "rest-proxy").url;
  const services = {
    posts: `${replicaOf(platform, "posts").url}/rest/v1`,
    comments: `${replicaOf(platform, "comments").url}/rest/v1`,
  };
  const counts: RestTrafficCounts = { reads: 0, writes: 0, hits: 0, stale: [], failures: [] };
  const writeTo = isControl ? services : { posts: `${proxy}/v1`, comments: `${proxy}/v1` };
  const traffic = { ledger, counts, proxy, writeTo, token: platform.token };
  let startedOperations = 0;
  const runWorker = async () => {
    while (startedOperations < operations) {
      startedOperations += 1;
      if (startedOperations % progressEvery === 0) print(`${toText(startedOperations)} of ${toText(operations)}`);
      const sendOperation = startedOperations % writesEvery === 0 ? write : read;
      await sendOperation(traffic);
    }
  };
  await Promise.all(Array.from({ length: workerCount }, runWorker));
  return counts;
}

interface CreatedPost {
  readonly id: string;
  readonly etag: string;
}

/** Creates and publishes the posts, each with the title "Number 0". */
async function createPosts(platform: Platform): Promise<readonly CreatedPost[]> {
  const url = `${replicaOf(platform, "rest-proxy").url}/v1/posts`;
  const headers = { Authorization: `Bearer ${platform.token}` };
  const posts: CreatedPost[] = [];
  for (let i = 0; i < postCount; i++) {
    const draft = await send(url, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ title: "Number 0", body: "Text." }),
    });
    const published = await send(`${url}/${draft.id}`, {
      method: "PATCH",
      headers: { ...headers, "Content-Type": "application/merge-patch+json", "If-Match": draft.etag },
      body: JSON.stringify({ published: true }),
    });
    posts.push(published);
  }
  return posts;
}

async function send(url: string, init: RequestInit): Promise<CreatedPost> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method} ${url} responded with ${response.status}: ${text}`);
  const { id } = JSON.parse(text) as { readonly id: string };
  return { id, etag: response.headers.get("etag") ?? "" };
}

function toText(count: number): string {
  return count.toLocaleString("en");
}
