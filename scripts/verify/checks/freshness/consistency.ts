// The part `consistency` of freshness: eight clients write posts and read them with receipts, while one process after the other is killed.
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts, noReceipt, type PostClient, type ReadResult } from "./client.ts";
import type { FreshnessPart, PartRun } from "./part.ts";

const clientsCount = 8;
/** The clients continue until each of the six kills of `killInTurn` has happened once. */
const killsMin = 6;
const postsCount = 1_600;
/** The author's newest posts, which the list contains. */
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

interface Consistency {
  readonly client: PostClient;
  readonly platform: Platform;
  readonly run: PartRun;
  /** Acknowledged writes. `withoutReceipt` of them have no receipt. */
  acknowledged: number;
  withoutReceipt: number;
  /** Reads that returned a title. `stale` of them returned one from before the client's last write. */
  reads: number;
  stale: number;
  /** Calm requests (`afterKillMs`). `calmFailed` of them got no response, or a 5xx. */
  calm: number;
  calmFailed: number;
  kills: number;
  /** `Infinity` from a kill until the process is ready again: no request is calm. */
  lastKillMs: number;
  /** Whether all clients have finished. */
  isOver: boolean;
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
    const state: Consistency = {
      client: createPostClient(platform.token),
      platform,
      run,
      ...{ acknowledged: 0, withoutReceipt: 0, reads: 0, stale: 0, calm: 0, calmFailed: 0, kills: 0 },
      lastKillMs: -Infinity,
      isOver: false,
    };
    const killing = killInTurn(state);
    const filling = fillCaches(state);
    await Promise.all(Array.from({ length: clientsCount }, (_, clientIndex) => writeAndRead(state, clientIndex)));
    state.isOver = true;
    await Promise.all([killing, filling]);
    const { acknowledged, withoutReceipt, reads, stale, calm, calmFailed } = state;
    run.claim("with a receipt no read is older than a write that was acknowledged before", stale === 0, {
      measured: `${stale} of ${reads} are, after ${acknowledged} writes`,
      control: "fails",
    });
    run.claim("every acknowledged write has a receipt", acknowledged > 0 && withoutReceipt === 0);
    run.claim(
      `95 % of the requests later than ${afterKillMs / 1_000} s after a kill succeed`,
      calm > 0 && calmFailed <= calm * calmFailedShareMax,
      { measured: `${calm - calmFailed} of ${calm}` },
    );
  },
};

/** Writes ascending numbers as titles of posts that no other client writes, and reads each title once. The endpoint of each request is random. */
async function writeAndRead(state: Consistency, clientIndex: number): Promise<void> {
  const { client, platform, run } = state;
  // The newest posts first. Every `clientsCount`-th post is this client's.
  const ids = Array.from(
    { length: postsCount / clientsCount },
    (_, index) => postsCount - clientIndex - index * clientsCount,
  );
  // Half of the operations are writes.
  const writesMin = run.options.operations / clientsCount / 2;
  let acknowledged = 0;
  for (let number = 1; number <= writesMin || state.kills < killsMin; number++) {
    const index = acknowledged % Math.min(ids.length, activeCount / clientsCount);
    const id = String(ids[index]);
    const title = String(number);
    const written = await sendCounted(state, () =>
      Math.random() < 0.5
        ? client.writeByGraphql(pickUrl(platform, "gateway"), id, title)
        : client.writeByRest(pickUrl(platform, "rest-proxy"), id, title),
    );
    if (written.receipt === undefined) {
      await sleep(afterFailureMs);
      // A service may execute this write later and overwrite a newer write to the post, so the client does not use the post any more.
      if (!written.isUnsent) ids.splice(index, 1);
      if (ids.length === 0) throw new Error("All posts of a client have writes without a response.");
      continue;
    }
    acknowledged++;
    state.acknowledged++;
    if (written.receipt === noReceipt) state.withoutReceipt++;
    const receipt = run.isControl ? undefined : written.receipt;
    const read = await sendCounted(state, () => readRandomly(state, id, receipt));
    if (read.title === undefined) continue;
    state.reads++;
    if (Number(read.title) < number) state.stale++;
  }
}

/** Reads a post through a random replica of the gateway or the REST proxy. */
function readRandomly({ client, platform }: Consistency, id: string, receipt: string | undefined): Promise<ReadResult> {
  const proxy = pickUrl(platform, "rest-proxy");
  const reads = [
    () => client.readByRest(proxy, id, { receipt }),
    () => client.readByRest(proxy, id, { receipt, isAnonymous: true }),
    () => client.readByGraphql(pickUrl(platform, "gateway"), id, { receipt }),
  ];
  const isListed = Number(id) > postsCount - listedCount;
  if (isListed) reads.push(() => client.readListByRest(proxy, id, { receipt }));
  return pickRandomly(reads)();
}

/** Sends the request, and counts it if it is calm when it is sent. */
async function sendCounted<T extends { readonly status: number }>(
  state: Consistency,
  send: () => Promise<T>,
): Promise<T> {
  const isCalm = performance.now() - state.lastKillMs > afterKillMs;
  const result = await send();
  if (!isCalm) return result;
  state.calm++;
  if (result.status === 0 || result.status >= 500) state.calmFailed++;
  return result;
}

/** Reads without receipts, so that the caches of all proxies have entries that may be stale. */
async function fillCaches(state: Consistency): Promise<void> {
  const proxies = state.platform.replicas["rest-proxy"];
  while (!state.isOver) {
    const id = String(postsCount - Math.floor(Math.random() * activeCount));
    await Promise.all(proxies.map(({ url }) => state.client.readByRest(url, id, { isAnonymous: true })));
    await Promise.all(proxies.map(({ url }) => state.client.readListByRest(url, id)));
    await sleep(fillPauseMs);
  }
}

/** Kills or stops one process after the other until all clients have finished. */
async function killInTurn(state: Consistency): Promise<void> {
  const { platform, run } = state;
  const whileStopped = async (part: "posts" | "rest-proxy", work: () => Promise<unknown> = async () => {}) => {
    const replica = replicaOf(platform, part, 1);
    replica.signal("SIGSTOP");
    await sleep(stoppedMs);
    await work();
    replica.signal("SIGCONT");
  };
  const steps: readonly (readonly [name: string, kill: () => Promise<void>])[] = [
    ["posts 1", () => replicaOf(platform, "posts").killAndRestart()],
    ["rest-proxy 1", () => replicaOf(platform, "rest-proxy").killAndRestart()],
    // The changes that a stopped proxy has not read are deleted from the outbox: its next feed event must be a `reset`.
    ["trim below a proxy", () => whileStopped("rest-proxy", () => platform.postgres.query("posts", trimOutbox))],
    ["gateway 1", () => replicaOf(platform, "gateway").killAndRestart()],
    ["posts 2 does not respond", () => whileStopped("posts")],
    ["PostgreSQL", () => platform.postgres.killAndRestart()],
  ];
  for (;;) {
    await sleep(quietMs);
    if (state.isOver) return;
    const [name, kill] = steps[state.kills % steps.length] as (typeof steps)[number];
    state.lastKillMs = Infinity;
    await kill();
    state.lastKillMs = performance.now();
    state.kills++;
    run.print(`killed: ${name}`);
  }
}

const trimOutbox = `with trimmed as (update feed_trim set trimmed_below = pg_snapshot_xmin(pg_current_snapshot()) returning trimmed_below)
  delete from feed_changes using trimmed where xid < trimmed.trimmed_below`;

function pickUrl(platform: Platform, part: "gateway" | "rest-proxy"): string {
  return pickRandomly(platform.replicas[part]).url;
}

function pickRandomly<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}
