// The part `write-cost` of freshness: measures what the outbox triggers add to a write, and the statements of an idle feed.
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { startPlatform } from "../../platform/platform.ts";
import type { PlatformPostgres } from "../../platform/postgres.ts";
import { insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 1_000;
const rounds = 15;
const writesPerRound = 300;
const differenceShareMax = 0.1;
const differenceMsMax = 0.15;
const idleSeconds = 10;
const idleStatementsPerSecondMax = 10;
/** PostgreSQL writes its statistics late. */
const statisticsDelayMs = 3_000;

/** `recorded`: with the trigger that records the change in the outbox. `plain`: without it. */
type WriteKind = "recorded" | "plain";

export const writeCostPart: FreshnessPart = {
  name: "write-cost",
  purpose: "recording a change costs a write little, and an idle feed costs the database little",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "each change is recorded 20 times",
  async run({ isControl, claim, print, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 2 },
    });
    const { postgres, databaseUrls } = platform;
    await postgres.query("posts", insertPosts, [postsCount]);
    const statementsPerSecond = (await countStatements(postgres, idleSeconds)) / idleSeconds;
    claim(
      `the feed of two idle replicas needs at most ${idleStatementsPerSecondMax} statements a second`,
      statementsPerSecond <= idleStatementsPerSecondMax,
      {
        measured: statementsPerSecond.toFixed(1),
      },
    );
    if (isControl) await recordOften(postgres);
    const client = new pg.Client({ connectionString: databaseUrls.posts });
    await client.connect();
    onCleanup(() => client.end());
    const mediansMs: Record<WriteKind, number[]> = { recorded: [], plain: [] };
    for (let round = 0; round < rounds; round++) {
      const kinds: readonly WriteKind[] = round % 2 === 0 ? ["recorded", "plain"] : ["plain", "recorded"];
      for (const kind of kinds) {
        const change = kind === "recorded" ? "enable" : "disable";
        await client.query(`alter table posts ${change} trigger posts_update_recorded`);
        mediansMs[kind].push(await measureWriteMs(client, round, kind));
      }
    }
    const recordedMs = quantile(mediansMs.recorded, 0.5);
    const plainMs = quantile(mediansMs.plain, 0.5);
    const differenceMs = recordedMs - plainMs;
    const differenceShare = differenceMs / plainMs;
    print(
      `median of ${rounds} rounds of ${writesPerRound} updates: recorded ${recordedMs.toFixed(3)} ms, not recorded ${plainMs.toFixed(3)} ms`,
    );
    claim(
      `a recorded write takes at most ${differenceShareMax * 100} % or ${differenceMsMax} ms longer`,
      differenceMs <= Math.max(differenceMsMax, plainMs * differenceShareMax),
      { measured: `${differenceMs.toFixed(3)} ms, ${(differenceShare * 100).toFixed(1)} %`, control: "fails" },
    );
  },
};

/** Changes titles as the posts service does. A recorded write also returns its position in the feed. @returns the median time of a write. */
async function measureWriteMs(client: pg.Client, round: number, kind: WriteKind): Promise<number> {
  const isRecorded = kind === "recorded";
  const position = isRecorded ? ", pg_current_xact_id()::text as xid, (select id::text from feed_epoch) as epoch" : "";
  const text = `update posts set title = $2 where id = $1 returning id, author_id, title, body, status, row_version${position}`;
  const timesMs: number[] = [];
  for (let index = 0; index < writesPerRound; index++) {
    const id = 1 + ((round * writesPerRound + index) % postsCount);
    const title = `${round} ${index} ${isRecorded}`;
    const startMs = performance.now();
    await client.query({ name: `update-${isRecorded}`, text, values: [id, title] });
    timesMs.push(performance.now() - startMs);
  }
  return quantile(timesMs, 0.5);
}

/** Counts the statements of posts' database as transactions: a statement outside a transaction is one. */
async function countStatements(postgres: PlatformPostgres, seconds: number): Promise<number> {
  const readTransactions = async () => {
    const rows = await postgres.query<{ count: string }>(
      "postgres",
      "select xact_commit + xact_rollback as count from pg_stat_database where datname = 'posts'",
    );
    return Number(rows[0]?.count);
  };
  await sleep(statisticsDelayMs);
  const before = await readTransactions();
  await sleep(seconds * 1_000);
  const after = await readTransactions();
  return after - before;
}

async function recordOften(postgres: PlatformPostgres): Promise<void> {
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
