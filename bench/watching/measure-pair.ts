import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SubgraphUrls } from "../graph/compose.ts";
import { startPostsDatabase } from "../rest/database.ts";
import { hear, startHelper } from "../run/helper-process.ts";
import { findFreePort, type PinnedProcess, startPinned } from "../run/pinned-process.ts";
import type { PairJob, PairSaid, SideReport } from "./load.ts";
import { toObserved } from "./observed.ts";
import type { Place, Subject } from "./subjects.ts";

/** A subject as it comes, and beside it the same one observed; or, as a control, the same one once more. */
export interface Pair {
  readonly subject: Subject;
  readonly second: "observed" | "the same";
}

/** What both did at the same time. */
export interface PairRound {
  readonly plain: SideReport;
  readonly second: SideReport;
}

/** All that the subjects need around them, for the whole run. */
export interface WatchingSide {
  readonly place: Omit<Place, "port" | "folder">;
  readonly collectorUrl: string;
  load(job: PairJob): Promise<readonly SideReport[]>;
  stop(): Promise<void>;
}

export interface PairTimes {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const connections = 16;
const readyMsMax = 30_000;
const readyPollMs = 50;

export async function startWatchingSide(): Promise<WatchingSide> {
  const database = await startPostsDatabase();
  const origin = startHelper("rest/origin.ts");
  const subgraphs = startHelper("subgraphs/main.ts");
  const collector = startHelper("collector/main.ts");
  const load = startHelper("watching/load.ts");
  const [originPort, subgraphUrls, collectorUrl] = await Promise.all([
    hear<number>(origin),
    hear<SubgraphUrls>(subgraphs),
    hear<string>(collector),
    hear(load),
  ]);
  return {
    place: { originPort, subgraphUrls, databaseUrl: database.url },
    collectorUrl,
    async load(job) {
      load.child.send(job);
      const said = await hear<PairSaid>(load);
      if ("problem" in said) throw new Error(said.problem);
      return said.reports;
    },
    async stop() {
      await Promise.all([...[origin, subgraphs, collector, load].map((one) => one.stop()), database.stop()]);
    },
  };
}

/**
 * Fresh processes of both on core 0, warmed up and measured at the same time: whatever slows the machine down slows both.
 * @param swapped starts the second one first.
 * @throws Error when an answer is not what it has to be.
 */
export async function measurePair(
  { subject, second }: Pair,
  side: WatchingSide,
  { swapped, ...times }: PairTimes & { readonly swapped: boolean },
): Promise<PairRound> {
  const folder = mkdtempSync(join(tmpdir(), "bench-watching-"));
  const more = [{}, second === "observed" ? toObserved(side.collectorUrl) : {}];
  const order = swapped ? [1, 0] : [0, 1];
  const started: { readonly port: number; readonly process: PinnedProcess }[] = [];
  try {
    for (const at of order) started.push(await startOne(subject, { ...side.place, folder }, more[at] ?? {}));
    const [plain, other] = order.map((at) => started[at]);
    if (!plain || !other) throw new Error("A pair has two.");
    const both = [plain, other].map(({ port, process }) => ({ port, pid: process.pid }));
    await Promise.all(both.map(({ port }) => untilRight(port, subject)));
    const [first, last] = await side.load({ path: subject.path, body: subject.body, both, connections, ...times });
    if (!first || !last) throw new Error("The load reports on two.");
    return { plain: first, second: last };
  } catch (error) {
    // A process that is gone has told better why than a connection that it broke.
    await Promise.race([...started.map(({ process }) => process.failed), sleep(readyPollMs)]);
    throw error;
  } finally {
    await Promise.all(started.map(({ process }) => process.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startOne(subject: Subject, ground: Omit<Place, "port">, more: Readonly<Record<string, string>>) {
  const port = await findFreePort();
  const { command, environment } = subject.start({ ...ground, port });
  const process = startPinned({
    core: 0,
    command,
    environment: { ...environment, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { port, process };
}

/** Resolves when it answers with 200 and without errors. Twice, since the first may fill a cache. */
async function untilRight(port: number, { path, body }: Subject): Promise<void> {
  const headers = { Accept: "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json" };
  const asked = body === undefined ? { headers } : { method: "POST", headers, body };
  const deadline = Date.now() + readyMsMax;
  let last = "nothing";
  for (let right = 0; right < 2; await sleep(readyPollMs)) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, asked).catch(() => undefined);
    const text = (await answer?.text()) ?? last;
    right = answer?.status === 200 && !text.includes('"errors"') ? right + 1 : 0;
    last = text;
    if (Date.now() > deadline) throw new Error(`${path} is not answered after ${readyMsMax} ms: ${last.slice(0, 200)}`);
  }
}
