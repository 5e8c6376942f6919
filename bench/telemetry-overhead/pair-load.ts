// The load generator's process for pairs, on core 1: loads both processes of a pair at the same time. Runs one job after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { type ClosedLoop, createClosedLoop } from "../load/closed-loop.ts";
import { toPost } from "../load/connection.ts";
import { readProcess } from "../measure/proc.ts";
import { toGet } from "../rest/rest-workloads.ts";

export interface PairJob {
  readonly path: string;
  /** The body of a POST; undefined for a GET. */
  readonly body: string | undefined;
  readonly processes: readonly { readonly port: number; readonly pid: number }[];
  /** Connections to each process. */
  readonly connections: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/** The measured window of one process. */
export interface ProcessReport {
  readonly requests: number;
  readonly cpuSeconds: number;
  /** At the end of the window. */
  readonly rssBytes: number;
}

export type PairLoadMessage = { readonly reports: readonly ProcessReport[] } | { readonly problem: string };

interface LoadedProcess {
  readonly pid: number;
  readonly loop: ClosedLoop;
  responses: number;
  wrongResponses: number;
}

const send = (message: PairLoadMessage | "ready") => void process.send?.(message);

process.on("message", (job: PairJob) => {
  measure(job).then(
    (reports) => send({ reports }),
    (error: unknown) => send({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
send("ready");

async function measure(job: PairJob): Promise<readonly ProcessReport[]> {
  const loaded = createLoops(job);
  try {
    for (const { loop } of loaded) loop.run();
    await sleep(job.warmUpMs);
    const before = loaded.map(readUsage);
    await sleep(job.windowMs);
    const after = loaded.map(readUsage);
    await Promise.all(loaded.map(({ loop }) => loop.stop()));
    const wrongResponses = loaded.reduce((sum, each) => sum + each.wrongResponses, 0);
    if (wrongResponses > 0) throw new Error(`${wrongResponses} wrong responses under load.`);
    return after.map(({ responses, cpuSeconds, rssBytes }, index) => ({
      requests: responses - (before[index]?.responses ?? 0),
      cpuSeconds: cpuSeconds - (before[index]?.cpuSeconds ?? 0),
      rssBytes,
    }));
  } finally {
    for (const { loop } of loaded) loop.close();
  }
}

/** Each response must have status 200 and the length of the first response of either process. */
function createLoops({ path, body, processes, connections }: PairJob): readonly LoadedProcess[] {
  let length: number | undefined;
  return processes.map(({ port, pid }) => {
    const counts = { pid, responses: 0, wrongResponses: 0 };
    const loop = createClosedLoop({
      port,
      connections,
      requests: [body === undefined ? toGet(port, path, undefined) : toPost(port, body)],
      onResponse({ status, bodyBytes }) {
        length ??= bodyBytes;
        counts.responses += 1;
        if (status !== 200 || bodyBytes !== length) counts.wrongResponses += 1;
      },
    });
    return Object.assign(counts, { loop });
  });
}

function readUsage({ pid, responses }: LoadedProcess) {
  return { responses, ...readProcess(pid) };
}
