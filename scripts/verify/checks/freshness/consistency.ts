// The part `consistency` of freshness: eight clients write posts and read them with receipts, while one process after the other is killed.
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts, noReceipt, type PostClient, type ReadResult } from "./client.ts";
import type { FreshnessPart, PartRun } from "./part.ts";

const clientsCount = 8;
/** The clients continue until each of the six kills of `killInTurn` has happened once. */
const killsMin = 6;
const postsCount = 1_600;
/** The author's newest posts that `readListByRest` reads. */
const listedCount = 100;
/** All clients together write this many posts in turn. They are the newest posts, so that the author's list contains them. */
const activeCount = 96;
/** The pause between the time when a killed process is ready again and the next kill. */
const quietMs = 8_000;
/** A client whose write was not acknowledged waits, so that it does not send all its requests while a process is down. */
const afterFailureMs = 250;
/** A request that is sent later than this after a kill is calm: almost all calm requests must succeed. */
const afterKillMs = 5_000;
const calmFailedShareMax = 0.05;
/** How long `killInTurn` stops a process: longer than 1 s, after which a reader treats a change feed without events as down. */
const stoppedMs = 2_000;
const fillPauseMs = 2;

/** How a client reads its write, through a random replica of the gateway or the REST proxy. */
type Read = (client: PostClient, platform: Platform, id: string, receipt: string | undefined) => Promise<ReadResult>;

const readList: Read = (client, platform, id, receipt) =>
  client.readListByRest(pickUrl(platform, "rest-proxy"), id, { receipt });

const reads: readonly Read[] = [
  readList,
  (client, platform, id, receipt) => client.readByRest(pickUrl(platform, "rest-proxy"), id, { receipt }),
  (client, platform, id, receipt) =>
    client.readByRest(pickUrl(platform, "rest-proxy"), id, { receipt, isAnonymous: true }),
  (client, platform, id, receipt) => client.readByGraphql(pickUrl(platform, "gateway"), id, { receipt }),
];

interface Counts {
  /** Acknowledged writes. `withoutReceipt` of them have no receipt. */
  acknowledged: number;
  withoutReceipt: number;
  /** Reads that returned a title. `stale` of them returned one from before the client's last write. */
  reads: number;
  stale: number;
  /** Calm requests (`afterKillMs`). `calmFailed` of them got no response, or a 5xx. */
  calm: number;
  calmFailed: number;
  failed: number;
  /** Failed requests by status; 0 is no response. */
  readonly failedByStatus: Map<number, number>;
}

interface KillState {
  /** Whether all clients have finished. */
  isOver: boolean;
  /**
   * By `performance.now`. `-Infinity` before the first kill: every request is calm. `Infinity` from a kill until the process is ready again: none is.
   */
  lastKillMs: number;
  kills: number;
}

export const consistencyPart: FreshnessPart = {
  name: "consistency",
  purpose: "with a receipt no read is older than an acknowledged write, whatever is killed",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
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
      Array.from({ length: clientsCount }, (_, clientIndex) =>
        writeAndRead({ client, platform, run, counts, state, clientIndex }),
      ),
    );
    state.isOver = true;
    const killedNames = await killing;
    await filling;
    claimConsistency(counts, killedNames, run);
  },
};

function claimConsistency(counts: Counts, killedNames: readonly string[], { print, claim }: PartRun): void {
  const { acknowledged, withoutReceipt, reads: readsCount, stale, calm, calmFailed, failed } = counts;
  const failedByStatus = [...counts.failedByStatus].join("; ");
  print(
    `${acknowledged} writes, ${readsCount} reads, ${failed} requests without an answer (${failedByStatus}), ${killedNames.join(", ")}`,
  );
  claim("with a receipt no read is older than a write that was acknowledged before", stale === 0, {
    measured: `${stale} of ${readsCount} are`,
    control: "fails",
  });
  claim("every acknowledged write has a receipt", withoutReceipt === 0, { measured: `${withoutReceipt} have none` });
  claim(
    `95 % of the requests later than ${afterKillMs / 1_000} s after a kill are answered`,
    calmFailed <= calm * calmFailedShareMax,
    {
      measured: `${calm - calmFailed} of ${calm}`,
    },
  );
  claim("everything was killed once", killedNames.length >= killsMin, { measured: String(killedNames.length) });
}

interface ClientInput {
  readonly client: PostClient;
  readonly platform: Platform;
  readonly run: PartRun;
  readonly counts: Counts;
  readonly state: KillState;
  readonly clientIndex: number;
}

/** Writes ascending numbers as titles of posts that no other client writes, and reads each title once. The endpoint of each request is random. */
async function writeAndRead({ client, platform, run, counts, state, clientIndex }: ClientInput): Promise<void> {
  // The newest posts first. Every `clientsCount`-th post is this client's.
  const ids = Array.from(
    { length: postsCount / clientsCount },
    (_, index) => postsCount - clientIndex - index * clientsCount,
  );
  // Half of the operations are writes.
  const writesMin = run.options.operations / clientsCount / 2;
  let acknowledged = 0;
  for (let number = 1; number <= writesMin || state.kills < killsMin; number++) {
    const usedCount = Math.min(ids.length, activeCount / clientsCount);
    const index = acknowledged % usedCount;
    const id = String(ids[index]);
    const title = String(number);
    const written = await sendCounted(counts, state, () =>
      Math.random() < 0.5
        ? client.writeByGraphql(pickUrl(platform, "gateway"), id, title)
        : client.writeByRest(pickUrl(platform, "rest-proxy"), id, title),
    );
    if (written.receipt === undefined) {
      await sleep(afterFailureMs);
      // A service may execute this write later and overwrite a newer write to the post, so the client does not use the post any more.
      if (!written.isUnsent) ids.splice(index, 1);
      if (ids.length === 0) throw new Error("All posts of a client have writes without an answer.");
      continue;
    }
    acknowledged++;
    counts.acknowledged++;
    if (written.receipt === noReceipt) counts.withoutReceipt++;
    const read = chooseRead(Number(id));
    const receipt = run.isControl ? undefined : written.receipt;
    const { title: readTitle } = await sendCounted(counts, state, () => read(client, platform, id, receipt));
    if (readTitle === undefined) continue;
    counts.reads++;
    if (Number(readTitle) < number) counts.stale++;
  }
}

function chooseRead(id: number): Read {
  const isListed = id > postsCount - listedCount;
  const possible = isListed ? reads : reads.filter((read) => read !== readList);
  return possible[Math.floor(Math.random() * possible.length)] as Read;
}

/** Sends the request, and counts it as failed if it gets no response or a 5xx. @param lastKillMs from before the request. */
async function sendCounted<T extends { readonly status: number }>(
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
  const isCalm = sentMs - lastKillMs > afterKillMs;
  if (isCalm) {
    counts.calm++;
    if (isFailed) counts.calmFailed++;
  }
  return result;
}

/** Reads without receipts, so that the caches of all proxies have entries that may be stale. */
async function fillCaches(client: PostClient, platform: Platform, state: { readonly isOver: boolean }): Promise<void> {
  const proxies = platform.replicas["rest-proxy"];
  while (!state.isOver) {
    const id = String(postsCount - Math.floor(Math.random() * activeCount));
    await Promise.all(proxies.map(({ url }) => client.readByRest(url, id, { isAnonymous: true })));
    await Promise.all(proxies.map(({ url }) => client.readListByRest(url, id)));
    await sleep(fillPauseMs);
  }
}

type KillStep = readonly [name: string, kill: () => Promise<void>];

/** Kills or stops one process after the other until `state.isOver`. @returns the names of the kills. */
async function killInTurn(platform: Platform, run: PartRun, state: KillState): Promise<readonly string[]> {
  const steps: readonly KillStep[] = [
    ["posts 1", () => replicaOf(platform, "posts", 0).killAndRestart()],
    ["rest-proxy 1", () => replicaOf(platform, "rest-proxy", 0).killAndRestart()],
    ["trim below a proxy", () => trimBelowProxy(platform)],
    ["gateway 1", () => replicaOf(platform, "gateway", 0).killAndRestart()],
    ["posts 2 does not respond", () => freezePosts(platform)],
    ["PostgreSQL", () => platform.postgres.killAndRestart()],
  ];
  const killedNames: string[] = [];
  for (let index = 0; !state.isOver; index++) {
    await sleep(quietMs);
    if (state.isOver) break;
    const [name, kill] = steps[index % steps.length] as KillStep;
    state.lastKillMs = Infinity;
    await kill();
    state.lastKillMs = performance.now();
    state.kills++;
    killedNames.push(name);
    run.print(`killed: ${name}`);
  }
  return killedNames;
}

async function freezePosts(platform: Platform): Promise<void> {
  replicaOf(platform, "posts", 1).signal("SIGSTOP");
  await sleep(stoppedMs);
  replicaOf(platform, "posts", 1).signal("SIGCONT");
}

/** While a REST proxy is stopped, the changes that it has not read are deleted from the outbox: its next feed event must be a `reset`. */
async function trimBelowProxy(platform: Platform): Promise<void> {
  replicaOf(platform, "rest-proxy", 1).signal("SIGSTOP");
  await sleep(stoppedMs);
  await platform.postgres.query(
    "posts",
    `with trimmed as (update feed_trim set trimmed_below = pg_snapshot_xmin(pg_current_snapshot()) returning trimmed_below)
      delete from feed_changes using trimmed where xid < trimmed.trimmed_below`,
  );
  replicaOf(platform, "rest-proxy", 1).signal("SIGCONT");
}

function pickUrl(platform: Platform, part: "gateway" | "rest-proxy"): string {
  const replicas = platform.replicas[part];
  return replicas[Math.floor(Math.random() * replicas.length)]?.url ?? "";
}
