import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders/contenders.ts";
import type { GraphqlRequest } from "../graph/oracle.ts";
import type { LoadJob, LoadReport } from "../load/job.ts";
import type { Workload } from "../workloads/workloads.ts";
import { checkAnswers } from "./check-answers.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import type { Insider } from "./insider.ts";
import type { LoadSide } from "./load-side.ts";

/** One contender under one workload, once. */
export interface Cell<Told = unknown> extends LoadReport {
  readonly cpuMsPerRequest: number;
  readonly requestsPerSecond: number;
  /** What the contender asked the subgraphs for, per request of the window. */
  readonly fetchesPerRequest: number;
  /** Subgraph answers that had to be computed in the window. */
  readonly computed: number;
  /** Of the window; where somebody was inside. */
  readonly told: Told | undefined;
}

export interface CellOptions {
  readonly side: LoadSide;
  readonly supergraphFile: string;
  readonly oracle: (request: GraphqlRequest) => unknown;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const lastWordsMsMax = 500;

/** Starts a fresh process of the contender, compares its answers, warms it up, measures, and ends it. */
export async function measureCell<Told>(
  contender: Contender,
  workload: Workload,
  { side, supergraphFile, oracle, ...times }: CellOptions,
  insider?: Insider<Told>,
): Promise<Cell<Told>> {
  const { subgraphUrls } = side;
  const gateway = await startGateway(contender, { subgraphUrls, supergraphFile, ...insider });
  try {
    await checkAnswers(gateway, workload, oracle);
    const { report, fetches } = await side.load(toJob(gateway, workload, times), async () => insider?.ask(gateway));
    if (report.wrongAnswers > 0) {
      throw new Error(`${report.wrongAnswers} answers under load were wrong, the first with ${report.firstWrong}.`);
    }
    return {
      ...report,
      cpuMsPerRequest: (report.cpuSeconds.gateway / report.requests) * 1_000,
      requestsPerSecond: report.requests / report.seconds,
      fetchesPerRequest: fetches.asked / report.requests,
      computed: fetches.computed,
      told: await insider?.ask(gateway),
    };
  } catch (error) {
    // A gateway that is gone has told better why than a connection that it broke.
    await Promise.race([gateway.failed, sleep(lastWordsMsMax)]);
    throw error;
  } finally {
    await gateway.stop();
  }
}

function toJob(
  { port, pid }: GatewayProcess,
  { requests, primeRequests = requests, connections, order, probeEveryMs }: Workload,
  { warmUpMs, windowMs }: Pick<CellOptions, "warmUpMs" | "windowMs">,
): Omit<LoadJob, "subgraphsPid"> {
  return {
    port,
    gatewayPid: pid,
    bodies: requests.map((request) => JSON.stringify(request)),
    primeBodies: primeRequests.map((request) => JSON.stringify(request)),
    connections,
    order,
    warmUpMs,
    windowMs,
    ...(probeEveryMs !== undefined && { probeEveryMs }),
  };
}
