import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hear, startHelper } from "../run/helper-process.ts";
import { findFreePort, startPinned } from "../run/pinned-process.ts";
import type { RestContender } from "./contenders.ts";
import { startPostsDatabase } from "./database.ts";
import type { RestJob, RestReport, RestSaid } from "./load.ts";
import type { RestWorkload } from "./workloads.ts";

/** Origin, database and load beside the contender's core, for the whole run. */
export interface RestSide {
  readonly originPort: number;
  readonly databaseUrl: string;
  load(job: RestJob): Promise<RestReport>;
  stop(): Promise<void>;
}

export interface RestTimes {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const readyMsMax = 30_000;
const readyPollMs = 50;
const connections = 32;

export async function startRestSide(): Promise<RestSide> {
  const database = await startPostsDatabase();
  const origin = startHelper("rest/origin.ts");
  const load = startHelper("rest/load.ts");
  const [originPort] = await Promise.all([hear<number>(origin), hear(load)]);
  return {
    originPort,
    databaseUrl: database.url,
    async load(job) {
      load.child.send(job);
      const said = await hear<RestSaid>(load);
      if ("problem" in said) throw new Error(said.problem);
      return said.report;
    },
    async stop() {
      await Promise.all([origin.stop(), load.stop(), database.stop()]);
    },
  };
}

/** A fresh process of the contender on core 0, warmed up and measured. @throws Error when an answer is not what it has to be. */
export async function measureRest(
  contender: RestContender,
  workload: RestWorkload,
  side: RestSide,
  times: RestTimes,
): Promise<RestReport> {
  const folder = mkdtempSync(join(tmpdir(), "bench-rest-"));
  const port = await findFreePort();
  const { originPort, databaseUrl } = side;
  const started = contender.start({ port, folder, originPort, databaseUrl });
  const proxy = startPinned({ core: 0, ...started, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const etag = await Promise.race([findEtag(port, workload), proxy.failed]);
    const report = await side.load({ port, workload, etag, connections, pid: proxy.pid, ...times });
    if (report.wrongAnswers > 0) throw new Error(`${report.wrongAnswers} answers under load were wrong.`);
    return report;
  } finally {
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when it answers; with an ETag for conditional requests. Twice, since the first may fill a cache. */
async function findEtag(port: number, { path, query, isConditional }: RestWorkload): Promise<string | undefined> {
  const deadline = Date.now() + readyMsMax;
  // As the load asks: a packed answer has another ETag.
  const headers = { Accept: "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json" };
  const asked = query === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify({ query }) };
  let last = "nothing";
  let etag: string | null = null;
  for (let right = 0; right < 2; await sleep(readyPollMs)) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, asked).catch(() => undefined);
    await answer?.arrayBuffer();
    right = answer?.status === 200 ? right + 1 : 0;
    etag = answer?.headers.get("etag") ?? null;
    if (answer) last = String(answer.status);
    if (Date.now() > deadline) throw new Error(`It answers ${last} instead of 200 after ${readyMsMax} ms.`);
  }
  if (!isConditional) return undefined;
  if (etag === null) throw new Error(`${path} has no ETag.`);
  return etag;
}
