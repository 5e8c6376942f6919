// The part `consistency` of freshness: eight clients write posts and read them with receipts, while one process after the other is killed.
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts, type PostClient, type ReadResult } from "./client.ts";
import type { FreshnessPart, PartRun } from "./part.ts";

const clientsCount = 8;
/** The clients continue until each of the six kills of `killInTurn` has happened once. */
const killsMin = 6;
const postsCount = 1_600;
/** All clients together write this many posts in turn. They are the newest posts, so that the author's list of 100 posts contains them. */
const activeCount = 96;
/** The pause between the time when a killed process is ready again and the next kill. */
const quietMs = 8_000;
/** A client whose write was not acknowledged waits, so that it does not send all its requests while a process is down. */
const afterFailureMs = 250;
/** Failed requests within this time after a kill are counted separately. */
const afterKillMs = 5_000;

/** How a client reads its write, through a random replica of the gateway or the REST proxy. */
type Read = (client: PostClient, platform: Platform, id: string, receipt: string | undefined) => Promise<ReadResult>;

const readList: Read = (client, platform, id, receipt) =>
  client.readListByRest(pick(platform, "rest-proxy"), id, { receipt });

const reads: readonly Read[] = [
  readList,
  (client, platform, id, receipt) => client.readByRest(pick(platform, "rest-proxy"), id, { receipt }),
  (client, platform, id, receipt) =>
    client.readByRest(pick(platform, "rest-proxy"), id, { receipt, isAnonymous: true }),
  (client, platform, id, receipt) => client.readByGraphql(pick(platform, "gateway"), id, { receipt }),
];

interface Counts {
  acknowledged: number;
  reads: number;
  stale: number;
  /** Requests sent later than `afterKillMs` after a kill. `calmFailed` of them got no response, or a 5xx. */
  calm: number;
  calmFailed: number;
  failed: number;
  withoutReceipt: number;
  /** Failed requests by status; 0 is no response. */
  readonly failedByStatus: Map<number, number>;
}

export const consistencyPart: FreshnessPart = {
  name: "consistency",
  purpose: "with a receipt no read is older than an acknowledged write, whatever is killed",
  control: "the clients send no receipts",
  async run(run) {
    const platform = await startPlatform({
      run,
      isSeeded: false,
      replicas: { users: 2, posts: 2, comments: 2, orders: 2, gateway: 2, "rest-proxy": 3 },
    });
    await platform.postgres.query("posts", insertPosts, [postsCount]);
    const client = createPostClient(platform.token);
    const counts: Counts = {
      acknowledged: 0,
      reads: 0,
      stale: 0,
      calm: 0,
      calmFailed: 0,
      failed: 0,
      withoutReceipt: 0,
      failedByStatus: new Map(),
    };
    const state: KillState = { isOver: false, lastKillMs: -Infinity, kills: 0 };
    const killing = killInTurn(platform, run, state);
    const filling = fillCaches(client, platform, state);
    await Promise.all(
      Array.from({ length: clientsCount }, (_, at) => writeAndRead({ client, platform, run, counts, state, at })),
    );
    state.isOver = true;
    const kills = await killing;
    await filling;
    const { acknowledged, calm } = counts;
    run.print(
      `${acknowledged} writes, ${counts.reads} reads, ${counts.failed} requests without an answer (${[...counts.failedByStatus].join("; ")}), ${kills.join(", ")}`,
    );
    run.claim("with a receipt no read is older than a write that was acknowledged before", counts.stale === 0, {
      measured: `${counts.stale} of ${counts.reads} are`,
      control: "fails",
    });
    run.claim("every acknowledged write has a receipt", counts.withoutReceipt === 0, {
      measured: `${counts.withoutReceipt} have none`,
    });
    run.claim(
      `95 % of the requests later than ${afterKillMs / 1_000} s after a kill are answered`,
      counts.calmFailed <= calm * 0.05,
      {
        measured: `${calm - counts.calmFailed} of ${calm}`,
      },
    );
    run.claim("everything was killed once", kills.length >= killsMin, { measured: String(kills.length) });
  },
};

interface KillState {
  isOver: boolean;
  /**
   * By `performance.now`. `-Infinity` before the first kill: every request is calm. `Infinity` from a kill until the process is ready again: none is.
   */
  lastKillMs: number;
  kills: number;
}

interface Client {
  readonly client: PostClient;
  readonly platform: Platform;
  readonly run: PartRun;
  readonly counts: Counts;
  readonly state: KillState;
  readonly at: number;
}

/** Writes ascending numbers as titles of posts that no other client writes, and reads each title once. The endpoint of each request is random. */
async function writeAndRead({ client, platform, run, counts, state, at }: Client): Promise<void> {
  const ids = Array.from({ length: postsCount / clientsCount }, (_, index) => postsCount - at - index * clientsCount);
  const operationsMax = run.options.operations / clientsCount;
  for (let number = 1, turn = 0; number * 2 <= operationsMax || state.kills < killsMin; number++) {
    const index = turn % Math.min(ids.length, activeCount / clientsCount);
    const id = String(ids[index]);
    const title = String(number);
    const written = await count(counts, state, () =>
      Math.random() < 0.5
        ? client.writeByGraphql(pick(platform, "gateway"), id, title)
        : client.writeByRest(pick(platform, "rest-proxy"), id, title),
    );
    if (written.receipt === undefined) {
      await sleep(afterFailureMs);
      // A service may execute this write later and overwrite a newer write to the post, so the client does not use the post any more.
      if (!written.isUnsent) ids.splice(index, 1);
      if (ids.length === 0) throw new Error("All posts of a client have writes without an answer.");
      continue;
    }
    counts.acknowledged++;
    if (written.receipt === "none") counts.withoutReceipt++;
    // The list contains only the author's 100 newest posts.
    const possible = Number(id) > postsCount - 100 ? reads : reads.filter((read) => read !== readList);
    const read = possible[Math.floor(Math.random() * possible.length)] as Read;
    const receipt = run.isControl ? undefined : written.receipt;
    const { title: found } = await count(counts, state, () => read(client, platform, id, receipt));
    if (found !== undefined) {
      counts.reads++;
      if (Number(found) < number) counts.stale++;
    }
    turn++;
  }
}

/** Sends the request, and counts it as failed if it gets no response or a 5xx. */
async function count<T extends { readonly status: number }>(
  counts: Counts,
  { lastKillMs }: { readonly lastKillMs: number },
  send: () => Promise<T>,
): Promise<T> {
  const sentMs = performance.now();
  const result = await send();
  const isFailed = result.status === 0 || result.status >= 500;
  if (isFailed) {
    counts.failed++;
    counts.failedByStatus.set(result.status, (counts.failedByStatus.get(result.status) ?? 0) + 1);
  }
  if (sentMs - lastKillMs > afterKillMs) {
    counts.calm++;
    if (isFailed) counts.calmFailed++;
  }
  return result;
}

/** Reads without receipts, so that the caches of all proxies have entries that may be stale. */
async function fillCaches(client: PostClient, platform: Platform, state: { readonly isOver: boolean }): Promise<void> {
  while (!state.isOver) {
    const id = String(postsCount - Math.floor(Math.random() * activeCount));
    await Promise.all(
      platform.replicas["rest-proxy"].map(({ url }) => client.readByRest(url, id, { isAnonymous: true })),
    );
    await Promise.all(platform.replicas["rest-proxy"].map(({ url }) => client.readListByRest(url, id)));
    await sleep(2);
  }
}

/** Kills or stops one process after the other until `state.isOver`. @returns the names of the kills. */
async function killInTurn(platform: Platform, run: PartRun, state: KillState): Promise<readonly string[]> {
  const kills: readonly (readonly [string, () => Promise<void>])[] = [
    ["posts 1", () => replicaOf(platform, "posts", 0).killAndRestart()],
    ["rest-proxy 1", () => replicaOf(platform, "rest-proxy", 0).killAndRestart()],
    ["trim below a proxy", () => trimBelowProxy(platform)],
    ["gateway 1", () => replicaOf(platform, "gateway", 0).killAndRestart()],
    ["posts 2 does not respond", () => pause(platform)],
    ["PostgreSQL", () => platform.postgres.killAndRestart()],
  ];
  const done: string[] = [];
  for (let at = 0; !state.isOver; at++) {
    await sleep(quietMs);
    if (state.isOver) break;
    const [name, kill] = kills[at % kills.length] as (typeof kills)[number];
    state.lastKillMs = Infinity;
    await kill();
    state.lastKillMs = performance.now();
    state.kills++;
    done.push(name);
    run.print(`killed: ${name}`);
  }
  return done;
}

/** A process is stopped for longer than 1 s, after which a reader treats a change feed without events as down. */
const pauseMs = 2_000;

async function pause(platform: Platform): Promise<void> {
  replicaOf(platform, "posts", 1).signal("SIGSTOP");
  await sleep(pauseMs);
  replicaOf(platform, "posts", 1).signal("SIGCONT");
}

/** While a REST proxy is stopped, the changes that it has not read are deleted from the outbox: its next feed event must be a `reset`. */
async function trimBelowProxy(platform: Platform): Promise<void> {
  replicaOf(platform, "rest-proxy", 1).signal("SIGSTOP");
  await sleep(pauseMs);
  await platform.postgres.query(
    "posts",
    `with trimmed as (update feed_trim set trimmed_below = pg_snapshot_xmin(pg_current_snapshot()) returning trimmed_below)
      delete from feed_changes using trimmed where xid < trimmed.trimmed_below`,
  );
  replicaOf(platform, "rest-proxy", 1).signal("SIGCONT");
}

function pick({ replicas }: Platform, part: "gateway" | "rest-proxy"): string {
  const all = replicas[part];
  return all[Math.floor(Math.random() * all.length)]?.url ?? "";
}
