import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort, type PinnedProcess, startPinned } from "../run/pinned-process.ts";
import type { RestContender } from "./contenders.ts";
import type { RestJob, RestReport, RestSaid } from "./load.ts";
import type { RestWorkload } from "./workloads.ts";

/** Origin and load on core 1, for the whole run. */
export interface RestSide {
  readonly originPort: number;
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
  const origin = start("origin.ts");
  const load = start("load.ts");
  const [originPort] = await Promise.all([hear<number>(origin), hear(load)]);
  return {
    originPort,
    async load(job) {
      load.child.send(job);
      const said = await hear<RestSaid>(load);
      if ("problem" in said) throw new Error(said.problem);
      return said.report;
    },
    async stop() {
      await Promise.all([origin.stop(), load.stop()]);
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
  const started = contender.start({ port, originPort: side.originPort, folder });
  const proxy = startPinned({ core: 0, ...started, stdio: ["ignore", "pipe", "pipe"] });
  try {
    await Promise.race([untilAnswering(port, workload), proxy.failed]);
    const report = await side.load({ port, workload, connections, pid: proxy.pid, ...times });
    if (report.wrongAnswers > 0) throw new Error(`${report.wrongAnswers} answers under load were wrong.`);
    return report;
  } finally {
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Twice: the first may fill a cache. */
async function untilAnswering(port: number, { path, headers, status }: RestWorkload): Promise<void> {
  const deadline = Date.now() + readyMsMax;
  let last = "nothing";
  for (let right = 0; right < 2; await sleep(readyPollMs)) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => undefined);
    await answer?.arrayBuffer();
    right = answer?.status === status ? right + 1 : 0;
    if (answer) last = String(answer.status);
    if (Date.now() > deadline) throw new Error(`It answers ${last} instead of ${status} after ${readyMsMax} ms.`);
  }
}

function start(script: string): PinnedProcess {
  return startPinned({
    core: 1,
    command: [join(import.meta.dirname, script)],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

async function hear<T>({ child, failed }: PinnedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}
