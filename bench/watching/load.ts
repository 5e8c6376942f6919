// The load on both of a pair at the same time, in a process of its own on the helpers' core. One job after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { type ClosedLoop, createClosedLoop } from "../load/closed-loop.ts";
import { toPost } from "../load/connection.ts";
import { readProcess } from "../measure/proc.ts";
import { toGet } from "../rest/workloads.ts";

export interface PairJob {
  readonly path: string;
  readonly body: string | undefined;
  readonly both: readonly { readonly port: number; readonly pid: number }[];
  /** To each. */
  readonly connections: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/** What one of both did in the window. */
export interface SideReport {
  readonly requests: number;
  readonly cpuSeconds: number;
  /** At the window's end. */
  readonly rssBytes: number;
}

export type PairSaid = { readonly reports: readonly SideReport[] } | { readonly problem: string };

interface Side {
  readonly pid: number;
  readonly loop: ClosedLoop;
  answers: number;
  wrong: number;
}

const say = (said: PairSaid | "ready") => void process.send?.(said);

process.on("message", (job: PairJob) => {
  measure(job).then(
    (reports) => say({ reports }),
    (error: unknown) => say({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
say("ready");

async function measure(job: PairJob): Promise<readonly SideReport[]> {
  const sides = startBoth(job);
  try {
    for (const { loop } of sides) loop.run();
    await sleep(job.warmUpMs);
    const before = sides.map(readSide);
    await sleep(job.windowMs);
    const after = sides.map(readSide);
    await Promise.all(sides.map(({ loop }) => loop.stop()));
    const wrong = sides.reduce((sum, side) => sum + side.wrong, 0);
    if (wrong > 0) throw new Error(`${wrong} answers under load were wrong.`);
    return after.map(({ answers, cpuSeconds, rssBytes }, at) => ({
      requests: answers - (before[at]?.answers ?? 0),
      cpuSeconds: cpuSeconds - (before[at]?.cpuSeconds ?? 0),
      rssBytes,
    }));
  } finally {
    for (const { loop } of sides) loop.close();
  }
}

/** Each answer has to be a 200 of the length that the very first had, whoever of both gave it. */
function startBoth({ path, body, both, connections }: PairJob): readonly Side[] {
  let length: number | undefined;
  return both.map(({ port, pid }) => {
    const side = { pid, answers: 0, wrong: 0 };
    const loop = createClosedLoop({
      port,
      connections,
      requests: [body === undefined ? toGet(port, path, undefined) : toPost(port, body)],
      onAnswer({ status, bodyBytes }) {
        length ??= bodyBytes;
        side.answers += 1;
        if (status !== 200 || bodyBytes !== length) side.wrong += 1;
      },
    });
    return Object.assign(side, { loop });
  });
}

function readSide({ pid, answers }: Side) {
  return { answers, ...readProcess(pid) };
}
