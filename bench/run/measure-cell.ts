import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders/contenders.ts";
import type { BenchmarkRequest } from "../graph/reference-executor.ts";
import type { LoadJob, ClosedLoopReport } from "../load/load-job.ts";
import type { Workload } from "../workloads/workloads.ts";
import { checkResults } from "./check-results.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import type { Preload } from "./preload.ts";
import type { Testbed } from "./testbed.ts";

/** The results of one contender under one workload in one round. */
export interface Cell<Report = unknown> extends ClosedLoopReport {
  readonly cpuMsPerRequest: number;
  readonly requestsPerSecond: number;
  /** Subgraph fetches of the contender per client request in the window. */
  readonly fetchesPerRequest: number;
  /** Subgraph responses that had to be computed in the window, because they were not prepared. */
  readonly computedResponses: number;
  /** The preload module's report on the window; undefined without a preload module. */
  readonly preloadReport: Report | undefined;
}

export interface CellOptions {
  readonly testbed: Testbed;
  readonly supergraphFile: string;
  readonly executeReference: (request: BenchmarkRequest) => unknown;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const exitMsMax = 500;

/**
 * Starts a new process of the contender, compares its results, warms it up, measures and stops it.
 * @throws Error if the process exits, or if a result or a response under load is wrong.
 */
export async function measureCell<Report>(
  contender: Contender,
  workload: Workload,
  { testbed, supergraphFile, executeReference, ...times }: CellOptions,
  preload?: Preload<Report>,
): Promise<Cell<Report>> {
  const { subgraphUrls } = testbed;
  const gateway = await startGateway(contender, { subgraphUrls, supergraphFile, ...preload });
  try {
    await checkResults(gateway, workload, executeReference);
    const job = toJob(gateway, workload, times);
    const { report, fetchCounts } = await testbed.load(job, async () => preload?.collect(gateway));
    if (report.wrongResponses > 0) {
      throw new Error(
        `${report.wrongResponses} wrong responses under load, the first with ${report.firstWrongResponse}.`,
      );
    }
    return {
      ...report,
      cpuMsPerRequest: (report.cpuSeconds.gateway / report.requests) * 1_000,
      requestsPerSecond: report.requests / report.seconds,
      fetchesPerRequest: fetchCounts.fetches / report.requests,
      computedResponses: fetchCounts.computed,
      preloadReport: await preload?.collect(gateway),
    };
  } catch (error) {
    // If the gateway exited, `failed` rejects with its output, which explains more than a broken connection.
    await Promise.race([gateway.failed, sleep(exitMsMax)]);
    throw error;
  } finally {
    await gateway.stop();
  }
}

function toJob(
  { port, pid }: GatewayProcess,
  { requests, primingRequests = requests, connections, order, probeEveryMs }: Workload,
  { warmUpMs, windowMs }: Pick<CellOptions, "warmUpMs" | "windowMs">,
): Omit<LoadJob, "subgraphsPid"> {
  return {
    port,
    gatewayPid: pid,
    bodies: requests.map((request) => JSON.stringify(request)),
    primingBodies: primingRequests.map((request) => JSON.stringify(request)),
    connections,
    order,
    warmUpMs,
    windowMs,
    ...(probeEveryMs !== undefined && { probeEveryMs }),
  };
}
