// Runs the traffic: workers that send one request after the other, every fifth a write.
import { createLedger } from "./ledger.ts";
import type { RestCheckOptions } from "./options.ts";
import { type RestPlatform, startPlatform } from "./platform.ts";
import { type RestTrafficCounts, read, type RestTrafficOptions, write } from "./traffic.ts";

const postsCount = 20;
const workersCount = 16;
/** Every fifth operation is a write. */
const writesEvery = 5;
const progressEvery = 2_000;

/** Starts the processes, runs the traffic, and stops the processes. */
export async function runTraffic(options: RestCheckOptions, print: (line: string) => void): Promise<RestTrafficCounts> {
  const cleanups: (() => unknown)[] = [];
  try {
    const platform = await startPlatform(cleanups);
    const ledger = createLedger(await createPosts(platform));
    const counts: RestTrafficCounts = { reads: 0, writes: 0, hits: 0, stale: [], failures: [] };
    await workAll({ ledger, counts, ...targetsOf(platform, options) }, options.operations, print);
    return counts;
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
}

function targetsOf({ proxy, posts, comments, token }: RestPlatform, { control }: RestCheckOptions) {
  const services = { posts: `${posts}/rest/v1`, comments: `${comments}/rest/v1` };
  const writeTo = control ? services : { posts: `${proxy}/v1`, comments: `${proxy}/v1` };
  return { proxy, token, writeTo };
}

async function workAll(o: RestTrafficOptions, operations: number, print: (line: string) => void): Promise<void> {
  let started = 0;
  const work = async () => {
    while (started < operations) {
      started += 1;
      if (started % progressEvery === 0) print(`${started.toLocaleString("en")} of ${operations.toLocaleString("en")}`);
      await (started % writesEvery === 0 ? write(o) : read(o));
    }
  };
  await Promise.all(Array.from({ length: workersCount }, work));
}

async function createPosts({ proxy, token }: RestPlatform): Promise<readonly { id: string; etag: string }[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const posts: { id: string; etag: string }[] = [];
  for (let i = 0; i < postsCount; i++) {
    const draft = await send(`${proxy}/v1/posts`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ title: "Number 0", body: "Text." }),
    });
    const published = await send(`${proxy}/v1/posts/${draft.id}`, {
      method: "PATCH",
      headers: { ...headers, "Content-Type": "application/merge-patch+json", "If-Match": draft.etag },
      body: JSON.stringify({ published: true }),
    });
    posts.push(published);
  }
  return posts;
}

async function send(url: string, init: RequestInit): Promise<{ readonly id: string; readonly etag: string }> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method} ${url} responded with ${response.status}: ${text}`);
  const { id } = JSON.parse(text) as { readonly id: string };
  return { id, etag: response.headers.get("etag") ?? "" };
}
