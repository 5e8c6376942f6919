import type { SubgraphUrls } from "../graph/compose.ts";
import type { LoadJob, LoadMessage, ClosedLoopReport } from "../load/load-job.ts";
import { receiveMessage, startIpcProcess } from "./ipc-process.ts";
import type { PinnedProcess } from "./pinned-process.ts";

interface FetchCounts {
  readonly fetches: number;
  /** Fetches without a prepared response; computing one takes a few milliseconds on the load's core. */
  readonly computed: number;
}

interface LoadMeasurement {
  readonly report: ClosedLoopReport;
  /** The subgraph fetches of the measured window. */
  readonly fetchCounts: FetchCounts;
}

/** The processes on core 1, which run for the whole benchmark: one with the subgraphs, one with the load generator. */
export interface Testbed {
  readonly subgraphUrls: SubgraphUrls;
  /** Runs one job. `onWindow` is called when the measured window starts. */
  load(job: Omit<LoadJob, "subgraphsPid">, onWindow?: () => Promise<unknown>): Promise<LoadMeasurement>;
  stop(): Promise<void>;
}

export async function startTestbed(): Promise<Testbed> {
  const subgraphs = startIpcProcess("subgraphs/subgraph-process.ts");
  const load = startIpcProcess("load/load-process.ts");
  const [subgraphUrls] = await Promise.all([receiveMessage<SubgraphUrls>(subgraphs), receiveMessage(load)]);
  const countFetches = () => request<FetchCounts>(subgraphs, "count");
  return {
    subgraphUrls,
    async load(job, onWindow) {
      const completeJob: LoadJob = { ...job, subgraphsPid: subgraphs.pid };
      expectWindowStart(await request<LoadMessage>(load, completeJob));
      const finished = receiveMessage<LoadMessage>(load);
      const [before] = await Promise.all([countFetches(), onWindow?.()]);
      const report = toReport(await finished);
      const after = await countFetches();
      const fetchCounts = { fetches: after.fetches - before.fetches, computed: after.computed - before.computed };
      return { report, fetchCounts };
    },
    async stop() {
      await Promise.all([subgraphs.stop(), load.stop()]);
    },
  };
}

function request<T>(process: PinnedProcess, message: string | LoadJob): Promise<T> {
  process.child.send(message);
  return receiveMessage<T>(process);
}

function expectWindowStart(message: LoadMessage): void {
  if (message.kind === "problem") throw new Error(message.problem);
}

function toReport(message: LoadMessage): ClosedLoopReport {
  if (message.kind === "report") return message.report;
  throw new Error(message.kind === "problem" ? message.problem : "The load process started a second window.");
}
