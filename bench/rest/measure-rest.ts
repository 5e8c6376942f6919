import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { receiveMessage, startIpcProcess } from "../run/ipc-process.ts";
import { findFreePort, startPinned } from "../run/pinned-process.ts";
import type { RestContender } from "./rest-contenders.ts";
import { startPostsDatabase } from "./posts-database.ts";
import type { RestJob, RestReport, RestLoadMessage } from "./rest-load.ts";
import type { RestWorkload } from "./rest-workloads.ts";

/** Origin, database and load generator, which run for the whole benchmark. */
export interface RestTestbed {
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

export async function startRestTestbed(): Promise<RestTestbed> {
  const database = await startPostsDatabase();
  const origin = startIpcProcess("rest/origin.ts");
  const load = startIpcProcess("rest/rest-load.ts");
  const [originPort] = await Promise.all([receiveMessage<number>(origin), receiveMessage(load)]);
  return {
    originPort,
    databaseUrl: database.url,
    async load(job) {
      load.child.send(job);
      const message = await receiveMessage<RestLoadMessage>(load);
      if ("problem" in message) throw new Error(message.problem);
      return message.report;
    },
    async stop() {
      await Promise.all([origin.stop(), load.stop(), database.stop()]);
    },
  };
}

/**
 * Starts a new process of the contender on core 0, warms it up and measures it.
 * @throws Error if the process exits, is not ready within 30 s, or sends a wrong response.
 */
export async function measureRest(
  contender: RestContender,
  workload: RestWorkload,
  testbed: RestTestbed,
  times: RestTimes,
): Promise<RestReport> {
  const folder = mkdtempSync(join(tmpdir(), "bench-rest-"));
  const port = await findFreePort();
  const { originPort, databaseUrl } = testbed;
  const started = contender.start({ port, folder, originPort, databaseUrl });
  const contenderProcess = startPinned({ core: 0, ...started, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const etag = await Promise.race([waitUntilReady(port, workload), contenderProcess.failed]);
    const report = await testbed.load({ port, workload, etag, connections, pid: contenderProcess.pid, ...times });
    if (report.wrongResponses > 0) throw new Error(`${report.wrongResponses} wrong responses under load.`);
    return report;
  } finally {
    await contenderProcess.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Resolves after two successive responses with status 200: the first may fill a cache. Resolves with the ETag of the last
 * one if the workload is conditional.
 */
async function waitUntilReady(port: number, { path, query, isConditional }: RestWorkload): Promise<string | undefined> {
  const deadline = Date.now() + readyMsMax;
  // `identity` as in the load generator's requests: a compressed response has another ETag.
  const headers = { Accept: "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json" };
  const init = query === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify({ query }) };
  let lastStatus = "nothing";
  let etag: string | null = null;
  for (let successes = 0; successes < 2; await sleep(readyPollMs)) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => undefined);
    await response?.arrayBuffer();
    successes = response?.status === 200 ? successes + 1 : 0;
    etag = response?.headers.get("etag") ?? null;
    if (response) lastStatus = String(response.status);
    if (Date.now() > deadline)
      throw new Error(`${path} is not ready after ${readyMsMax} ms. Last status: ${lastStatus}.`);
  }
  if (!isConditional) return undefined;
  if (etag === null) throw new Error(`${path} has no ETag.`);
  return etag;
}
