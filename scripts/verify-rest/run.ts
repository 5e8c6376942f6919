import { createLedger } from "./ledger.ts";
import type { VerifyOptions } from "./options.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { type Counts, read, type TrafficOptions, write } from "./traffic.ts";

const postsCount = 20;
const workersCount = 16;
/** One in so many is a write. */
const writesEvery = 5;
const tellEvery = 2_000;

/** Runs on processes of its own, and ends them, whatever happens. */
export async function runTraffic(options: VerifyOptions, say: (line: string) => void): Promise<Counts> {
  const ends: (() => unknown)[] = [];
  try {
    const platform = await startPlatform(ends);
    const ledger = createLedger(await createPosts(platform));
    const counts: Counts = { reads: 0, writes: 0, hits: 0, stale: [], failures: [] };
    await workAll({ ledger, counts, ...placesOf(platform, options) }, options.operations, say);
    return counts;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function placesOf({ proxy, posts, comments, token }: Platform, { control }: VerifyOptions) {
  const services = { posts: `${posts}/rest/v1`, comments: `${comments}/rest/v1` };
  const writeTo = control ? services : { posts: `${proxy}/v1`, comments: `${proxy}/v1` };
  return { proxy, token, writeTo };
}

async function workAll(o: TrafficOptions, operations: number, say: (line: string) => void): Promise<void> {
  let begun = 0;
  const work = async () => {
    while (begun < operations) {
      begun += 1;
      if (begun % tellEvery === 0) say(`${begun.toLocaleString("en")} of ${operations.toLocaleString("en")}`);
      await (begun % writesEvery === 0 ? write(o) : read(o));
    }
  };
  await Promise.all(Array.from({ length: workersCount }, work));
}

async function createPosts({ proxy, token }: Platform): Promise<readonly { id: string; etag: string }[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const posts: { id: string; etag: string }[] = [];
  for (let i = 0; i < postsCount; i++) {
    const draft = await ask(`${proxy}/v1/posts`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ title: "Number 0", body: "Text." }),
    });
    const published = await ask(`${proxy}/v1/posts/${draft.id}`, {
      method: "PATCH",
      headers: { ...headers, "Content-Type": "application/merge-patch+json", "If-Match": draft.etag },
      body: JSON.stringify({ published: true }),
    });
    posts.push(published);
  }
  return posts;
}

async function ask(url: string, init: RequestInit): Promise<{ readonly id: string; readonly etag: string }> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${init.method} ${url} was answered with ${answer.status}: ${text}`);
  const { id } = JSON.parse(text) as { readonly id: string };
  return { id, etag: answer.headers.get("etag") ?? "" };
}
