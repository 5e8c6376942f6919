import { once } from "node:events";
import { join } from "node:path";
import type { SubgraphUrls } from "../graph/compose.ts";
import type { LoadJob, LoadReport, LoadSaid } from "../load/job.ts";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";

interface Fetches {
  readonly asked: number;
  /** Of these, how many answers had to be computed: each a few milliseconds on the load's core. */
  readonly computed: number;
}

interface Loaded {
  readonly report: LoadReport;
  /** What the subgraphs were asked for in the window. */
  readonly fetches: Fetches;
}

/** The other side of the gateways, on core 1: the canned subgraphs, the collector and the load, one process each for the whole run. */
export interface LoadSide {
  readonly subgraphUrls: SubgraphUrls;
  readonly collectorUrl: string;
  /** `onWindow` is called when the measured window begins. */
  load(job: Omit<LoadJob, "subgraphsPid">, onWindow?: () => Promise<unknown>): Promise<Loaded>;
  stop(): Promise<void>;
}

export async function startLoadSide(): Promise<LoadSide> {
  const subgraphs = start("subgraphs/main.ts");
  const collector = start("collector/main.ts");
  const load = start("load/main.ts");
  const [subgraphUrls, collectorUrl] = await Promise.all([
    hear<SubgraphUrls>(subgraphs),
    hear<string>(collector),
    hear(load),
  ]);
  const countFetches = () => ask<Fetches>(subgraphs, "count");
  return {
    subgraphUrls,
    collectorUrl,
    async load(job, onWindow) {
      const whole: LoadJob = { ...job, subgraphsPid: subgraphs.pid };
      toWindow(await ask<LoadSaid>(load, whole));
      const finished = hear<LoadSaid>(load);
      const [before] = await Promise.all([countFetches(), onWindow?.()]);
      const report = toReport(await finished);
      const after = await countFetches();
      const fetches = { asked: after.asked - before.asked, computed: after.computed - before.computed };
      return { report, fetches };
    },
    async stop() {
      await Promise.all([subgraphs.stop(), collector.stop(), load.stop()]);
    },
  };
}

function start(script: string): PinnedProcess {
  const command = [join(import.meta.dirname, "..", script)];
  return startPinned({ core: 1, command, stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

function ask<T>(process: PinnedProcess, question: string | LoadJob): Promise<T> {
  process.child.send(question);
  return hear<T>(process);
}

async function hear<T>({ child, failed }: PinnedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}

function toWindow(said: LoadSaid): void {
  if (said.kind === "problem") throw new Error(said.problem);
}

function toReport(said: LoadSaid): LoadReport {
  if (said.kind === "report") return said.report;
  throw new Error(said.kind === "problem" ? said.problem : "The load begins a second window.");
}
