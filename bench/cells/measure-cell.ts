import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { launch, type LaunchedProcess } from "@tributary/kit/testing/processes/launched-process";
import type { Contender } from "../contenders/contender.ts";
import type { LoadJob, ProcessReport, WindowReport } from "../measure/measure-load.ts";
import { addPreload, collectReport, type PreloadModule } from "../preload/preload.ts";
import type { Testbed } from "../testbed/testbed.ts";
import type { Workload } from "../workloads/workload.ts";
import { checkResponses, type RightResponses } from "./check-responses.ts";

/** The results of one contender under one workload in one round. */
export interface Cell extends ProcessReport, Omit<WindowReport, "processes"> {
  readonly workload: string;
  readonly contender: string;
  readonly round: number;
  /** Of the process measured at the same time; undefined if the contender has no baseline. */
  readonly baseline: ProcessReport | undefined;
  /** Requests of the contender and its baseline to subgraphs or the origin in the window, and how many of their responses had to be computed. */
  readonly fetches: number;
  readonly computed: number;
  /** The preload module's report on the window; undefined without a preload module. */
  readonly preloadReport: unknown;
}

export interface CellOptions {
  readonly testbed: Testbed;
  readonly round: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  readonly preload: PreloadModule | undefined;
}

interface StartedContender {
  readonly port: number;
  readonly folder: string;
  readonly process: LaunchedProcess;
}

/** The contender, then its baseline if it has one. */
type StartedContenders = readonly [StartedContender, ...StartedContender[]];

/** After an error: how long to wait for the exit of a process, which would explain the error. */
const exitMsMax = 500;

/**
 * Starts new processes of the contender and its baseline on core 0, checks their responses, warms them up, measures and stops them. In even
 * rounds the baseline starts first, because the first process might have an advantage.
 * @throws Error if a process exits, or if a response is wrong.
 */
export async function measureCell(contender: Contender, workload: Workload, options: CellOptions): Promise<Cell> {
  const { testbed, round, preload, warmUpMs, windowMs } = options;
  const ended = new AbortController();
  const started: StartedContender[] = [];
  const start = async (contenderToStart: Contender, module?: PreloadModule) => {
    const startedContender = await startContender(contenderToStart, testbed, module);
    started.push(startedContender);
    return startedContender;
  };
  const startWithBaseline = async (): Promise<StartedContenders> => {
    const { baseline } = contender;
    if (baseline === undefined) return [await start(contender, preload)];
    const baselineStartsFirst = round % 2 === 0;
    const earlyBaseline = baselineStartsFirst ? await start(baseline) : undefined;
    const main = await start(contender, preload);
    return [main, earlyBaseline ?? (await start(baseline))];
  };
  try {
    const contenders = await startWithBaseline();
    const [main] = contenders;
    // `ended` is aborted when this cell ends, so that no check continues after the exit of a process.
    const [right] = (await Promise.race([
      Promise.all(contenders.map(({ port }) => checkResponses(port, workload, ended.signal))),
      ...started.map(({ process }) => process.failed),
    ])) as [RightResponses];
    // Called twice: at the start of the window, to begin a new report, and after the load, for the report on the window.
    const collect = async () => (preload === undefined ? undefined : collectReport(main.folder, main.process.pid));
    const processes = contenders.map(({ port, process }) => ({ port, pid: process.pid }));
    const job: LoadJob = { ...toLoad(workload, right), processes, warmUpMs, windowMs };
    const { processes: processReports, ...windowReport } = await testbed.load(job, collect, workload.latenciesMs);
    const [report, baselineReport] = processReports as [ProcessReport, ProcessReport?];
    return {
      workload: workload.name,
      contender: contender.name,
      round,
      ...report,
      ...windowReport,
      baseline: baselineReport,
      preloadReport: await collect(),
    };
  } catch (error) {
    // If a process exited, `failed` rejects with its output, which explains more than a broken connection.
    await Promise.race([...started.map(({ process }) => process.failed), sleep(exitMsMax)]);
    throw error;
  } finally {
    ended.abort();
    await Promise.all(started.map(({ process }) => process.stop()));
    for (const { folder } of started) rmSync(folder, { recursive: true, force: true });
  }
}

async function startContender(
  contender: Contender,
  testbed: Testbed,
  preload: PreloadModule | undefined,
): Promise<StartedContender> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const port = await pickFreePort();
  const command = contender.start({ ...testbed.addresses, port, folder });
  const { args, environment, ...rest } = preload === undefined ? command : addPreload(preload, folder, command);
  const process = launch({ ...rest, args, environment: { NODE_ENV: "production", ...environment }, core: 0 });
  return { port, folder, process };
}

/** The workload's part of a job. Only conditional workloads need the ETag of an earlier response. */
function toLoad(workload: Workload, { etag, lengths }: RightResponses) {
  const { requests, primingRequests = requests, connections, order, probeEveryMs = 0, isConditional } = workload;
  const load = { requests, primingRequests, connections, order, probeEveryMs } as const;
  if (!isConditional) return { ...load, expectedStatus: 200, knownLengths: lengths } as const;
  if (etag === undefined) throw new Error(`${workload.title}: the response has no ETag.`);
  const conditionalRequests = requests.map((request) => ({ ...request, etag }));
  return {
    ...load,
    requests: conditionalRequests,
    primingRequests: conditionalRequests,
    expectedStatus: 304,
    knownLengths: [],
  } as const;
}
