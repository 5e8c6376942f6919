import type { SubgraphUrls } from "../graph/compose.ts";
import type { LoadJob, LoadReport, LoadSaid } from "../load/job.ts";
import { hear, startHelper } from "./helper-process.ts";
import type { PinnedProcess } from "./pinned-process.ts";

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

/** The other side of the gateways, on core 1: the canned subgraphs and the load, a process each for the whole run. */
export interface LoadSide {
  readonly subgraphUrls: SubgraphUrls;
  /** `onWindow` is called when the measured window begins. */
  load(job: Omit<LoadJob, "subgraphsPid">, onWindow?: () => Promise<unknown>): Promise<Loaded>;
  stop(): Promise<void>;
}

export async function startLoadSide(): Promise<LoadSide> {
  const subgraphs = startHelper("subgraphs/main.ts");
  const load = startHelper("load/main.ts");
  const [subgraphUrls] = await Promise.all([hear<SubgraphUrls>(subgraphs), hear(load)]);
  const countFetches = () => ask<Fetches>(subgraphs, "count");
  return {
    subgraphUrls,
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
      await Promise.all([subgraphs.stop(), load.stop()]);
    },
  };
}

function ask<T>(process: PinnedProcess, question: string | LoadJob): Promise<T> {
  process.child.send(question);
  return hear<T>(process);
}

function toWindow(said: LoadSaid): void {
  if (said.kind === "problem") throw new Error(said.problem);
}

function toReport(said: LoadSaid): LoadReport {
  if (said.kind === "report") return said.report;
  throw new Error(said.kind === "problem" ? said.problem : "The load begins a second window.");
}
