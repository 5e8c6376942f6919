// The CPU time of a rejection, measured in a process that rejects every request. Beside served requests, rejections take a tenth of the core: less than
// the CPU time of the served requests differs between two measurements.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection, type ResponseSummary } from "../../../../bench/load/connection.ts";
import { readProcess } from "../../../../bench/measure/proc.ts";
import { median } from "../../../../bench/measure/quantile.ts";
import type { RequestTemplate } from "./caller-load.ts";
import {
  type EndpointKind,
  type LoadTarget,
  type OverloadRun,
  type ProcessStarter,
  startEmptyHandler,
} from "./tested-processes.ts";

/** A rejection cannot take less than an empty `node:http` handler. */
const rejectionRatioMax = 2;
/** Each client waits for its response and then for the pause. So a thousand requests are sent in a second, and fewer on a busy machine. */
const clients = 400;
const pauseMs = 400;
const perSecond = clients / (pauseMs / 1_000);
const rounds = 5;
/** Served by the process before it rejects, so that the operation store of the gateway has the operation. */
const servedCount = 20;
/** Until V8 has optimized the code. */
const warmUpCount = 10_000;
/** A served response is longer. */
const rejectionBytesMax = 500;
const pollMs = 20;

/** Of a rejection, of the empty handler at the same load, and of both. */
type Costs = Readonly<Record<"rejectionSeconds" | "emptySeconds" | "ratio", number>>;

interface RejectedLoad {
  readonly kind: EndpointKind;
  readonly createRequest: (target: LoadTarget) => RequestTemplate;
  /** Of each round, on an idle machine. */
  readonly seconds: number;
}

/** @returns the median of all rounds, at most the limit of the claim: its failure must not make the claims easier that follow from it. */
export async function claimRejectionCost(
  { kind, createRequest, seconds }: RejectedLoad,
  start: ProcessStarter,
  run: OverloadRun,
): Promise<number> {
  const rejecting = await start(kind, {}, [join(import.meta.dirname, "rejecting-admission.ts")]);
  const emptyHandler = await startEmptyHandler(run);
  const served = openClients(rejecting, createRequest(rejecting), 1);
  for (let count = 0; count < servedCount; count++) await served.sendOne();
  served.close();
  process.kill(rejecting.pid, "SIGUSR2");
  const measure = (target: LoadTarget, count = seconds * perSecond) =>
    measureCpuSeconds(target, createRequest(target), count);
  await measure(rejecting, warmUpCount);
  await measure(emptyHandler, warmUpCount);
  const costs: Costs[] = [];
  for (let round = 0; round < rounds; round++) {
    const isReversed = round % 2 === 1;
    const first = await measure(isReversed ? emptyHandler : rejecting);
    const second = await measure(isReversed ? rejecting : emptyHandler);
    const [rejectionSeconds, emptySeconds] = isReversed ? [second, first] : [first, second];
    costs.push({ rejectionSeconds, emptySeconds, ratio: rejectionSeconds / emptySeconds });
  }
  await Promise.all([rejecting.stop(), emptyHandler.stop()]);
  const medianOf = (key: keyof Costs) => median(costs.map((cost) => cost[key]));
  const rejectionSeconds = medianOf("rejectionSeconds");
  const emptySeconds = medianOf("emptySeconds");
  const ratio = medianOf("ratio");
  const ratios = costs.map((cost) => cost.ratio.toFixed(2)).join(", ");
  run.claim(
    `a rejection takes at most ${rejectionRatioMax} times the CPU time of an empty node:http handler at the same load`,
    ratio <= rejectionRatioMax,
    {
      measured: `${ratio.toFixed(2)} times: ${toMicroseconds(rejectionSeconds)} and ${toMicroseconds(emptySeconds)}; in ${rounds} rounds ${ratios}`,
    },
  );
  return Math.min(rejectionSeconds, rejectionRatioMax * emptySeconds);
}

/** Returns the CPU time of a rejection. @throws Error if a request is not rejected. */
async function measureCpuSeconds(target: LoadTarget, request: RequestTemplate, count: number): Promise<number> {
  const load = openClients(target, request, clients);
  const progress = { rejected: 0, isEnding: false };
  const sendUntilEnd = async (index: number) => {
    await sleep((index * pauseMs) / clients);
    while (!progress.isEnding) {
      const { status, bodyBytes } = await load.sendOne(index);
      if (bodyBytes > rejectionBytesMax) throw new Error(`A request was not rejected: status ${status}`);
      progress.rejected++;
      await sleep(pauseMs);
    }
  };
  const sending = Promise.all(Array.from({ length: clients }, (_, index) => sendUntilEnd(index)));
  const readAfter = async (total: number) => {
    while (progress.rejected < total) await Promise.race([sleep(pollMs), sending]);
    return { rejected: progress.rejected, cpuSeconds: readProcess(target.pid).cpuSeconds };
  };
  // Accepting the connections is no part of a rejection.
  const before = await readAfter(2 * clients);
  const after = await readAfter(before.rejected + count);
  progress.isEnding = true;
  await sending;
  load.close();
  return (after.cpuSeconds - before.cpuSeconds) / (after.rejected - before.rejected);
}

let nextUnique = 10_000_000;

function openClients({ port }: LoadTarget, request: RequestTemplate, count: number) {
  const onLost = (error: Error) => {
    throw error;
  };
  const connections = Array.from({ length: count }, () => openConnection({ port, onLost }));
  return {
    sendOne: (index = 0) =>
      new Promise<ResponseSummary>((resolve) => connections[index]?.send(request.write(nextUnique++), resolve)),
    close: () => connections.forEach((connection) => connection.close()),
  };
}

export function toMicroseconds(seconds: number): string {
  return `${(seconds * 1e6).toFixed(0)} µs`;
}
