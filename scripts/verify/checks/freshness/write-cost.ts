// The part `write-cost` of freshness: measures what the outbox triggers add to a write, and the statements of an idle feed.
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { startPlatform } from "../../platform/platform.ts";
import { insertPosts, quantile } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 1_000;
const rounds = 15;
const writesPerRound = 300;
const relativeMax = 0.1;
const differenceMsMax = 0.15;
const idleSeconds = 10;
const idleStatementsPerSecondMax = 10;

export const writeCostPart: FreshnessPart = {
  name: "write-cost",
  purpose: "recording a change costs a write little, and an idle feed costs the database little",
  control: "each change is recorded 20 times",
  async run({ isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 2 },
    });
    const { postgres, databaseUrls } = platform;
    await postgres.query("posts", insertPosts, [postsCount]);
    const statements = await countStatements(platform.postgres, idleSeconds);
    claim(
      `the feed of two idle replicas needs at most ${idleStatementsPerSecondMax} statements a second`,
      statements / idleSeconds <= idleStatementsPerSecondMax,
      {
        measured: (statements / idleSeconds).toFixed(1),
      },
    );
    if (isControl) await recordOften(postgres);
    const client = new pg.Client({ connectionString: databaseUrls.posts });
    await client.connect();
    onCleanup(() => client.end());
    const mediansMs: Record<"recorded" | "plain", number[]> = { recorded: [], plain: [] };
    for (let round = 0; round < rounds; round++) {
      for (const kind of round % 2 === 0 ? (["recorded", "plain"] as const) : (["plain", "recorded"] as const)) {
        await client.query(
          `alter table posts ${kind === "recorded" ? "enable" : "disable"} trigger posts_update_recorded`,
        );
        mediansMs[kind].push(await medianWriteMs(client, round, kind === "recorded"));
      }
    }
    const [recorded, plain] = [quantile(mediansMs.recorded, 0.5), quantile(mediansMs.plain, 0.5)];
    const difference = recorded - plain;
    print(
      `median of ${rounds} rounds of ${writesPerRound} updates: recorded ${recorded.toFixed(3)} ms, not recorded ${plain.toFixed(3)} ms`,
    );
    claim(
      `a recorded write takes at most ${relativeMax * 100} % or ${differenceMsMax} ms longer`,
      difference <= Math.max(differenceMsMax, plain * relativeMax),
      { measured: `${difference.toFixed(3)} ms, ${((difference / plain) * 100).toFixed(1)} %`, control: "fails" },
    );
  },
};

/** Changes titles as the posts service does. A recorded write also returns its position in the feed. @returns the median time of a write. */
async function medianWriteMs(client: pg.Client, round: number, isRecorded: boolean): Promise<number> {
  const position = isRecorded ? ", pg_current_xact_id()::text as xid, (select id::text from feed_epoch) as epoch" : "";
  const text = `update posts set title = $2 where id = $1 returning id, author_id, title, body, status, row_version${position}`;
  const timesMs: number[] = [];
  for (let at = 0; at < writesPerRound; at++) {
    const id = 1 + ((round * writesPerRound + at) % postsCount);
    const startedMs = performance.now();
    await client.query({ name: `update-${isRecorded}`, text, values: [id, `${round} ${at} ${isRecorded}`] });
    timesMs.push(performance.now() - startedMs);
  }
  return quantile(timesMs, 0.5);
}

/** Counts the statements as transactions: a statement outside a transaction is one. It waits first, because the statistics are written late. */
async function countStatements(
  postgres: Awaited<ReturnType<typeof startPlatform>>["postgres"],
  seconds: number,
): Promise<number> {
  const read = async () => {
    const rows = await postgres.query<{ count: string }>(
      "postgres",
      "select xact_commit + xact_rollback as count from pg_stat_database where datname = 'posts'",
    );
    return Number(rows[0]?.count);
  };
  await sleep(3_000);
  const before = await read();
  await sleep(seconds * 1_000);
  return (await read()) - before;
}

async function recordOften(postgres: Awaited<ReturnType<typeof startPlatform>>["postgres"]): Promise<void> {
  await postgres.query(
    "posts",
    `create or replace function record_posts_change() returns trigger language plpgsql as $$
     begin
       for n in 1..20 loop
         insert into feed_changes (kind, after) values ('post', jsonb_build_object('id', new.id, 'authorId', new.author_id, 'status', new.status));
       end loop;
       return null;
     end $$`,
  );
}
