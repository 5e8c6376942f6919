// Measures each workload: warms the processes up, then raises the request rate until the p99 limit is exceeded.
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient, findResponseProblem } from "../processes/http-client.ts";
import { percentile, startLoad } from "../processes/open-loop.ts";
import type { CapacityOptions } from "./options.ts";
import { type CapacityPlatform, startPlatform, type MeasuredProcess } from "./platform.ts";
import { findHighestRate, type RampResult, type RateResult } from "./ramp.ts";
import { type CapacityWorkload, workloads } from "./workloads.ts";

export interface WorkloadResult extends RampResult {
  readonly workload: CapacityWorkload;
}

const warmUpMs = 1_000;
/** A warm process is several times as fast as a cold one (JIT, caches), so it is first loaded at the maximum rate. */
const firstWarmUpMs = 12_000;
const warmUpClients = 16;

/** Measures the workloads one after the other. Stops everything that it started. */
export async function measureAll(
  { p99MsMax, seconds, only }: CapacityOptions,
  print: (line: string) => void,
): Promise<readonly WorkloadResult[]> {
  const cleanups: (() => unknown)[] = [];
  const results: WorkloadResult[] = [];
  try {
    const platform = await startPlatform(cleanups, print);
    for (const workload of workloads.filter(({ name }) => only.includes(name))) {
      await warmUp(platform, workload);
      const measure = async (perSecond: number) => {
        const result = await measureRate(platform, workload, { perSecond, warmUpMs, seconds });
        print(describe(workload, result));
        return result;
      };
      results.push({ workload, ...(await findHighestRate({ p99MsMax, measure })) });
    }
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
  return results;
}

async function warmUp({ processes, token }: CapacityPlatform, workload: CapacityWorkload): Promise<void> {
  const client = createHttpClient(processOf(processes, workload).url);
  const endMs = performance.now() + firstWarmUpMs;
  let count = 0;
  const sendRepeatedly = async () => {
    while (performance.now() < endMs) await client.send(workload.createRequest(count++, token));
  };
  await Promise.all(Array.from({ length: warmUpClients }, sendRepeatedly));
  client.close();
}

function processOf(
  processes: ReadonlyMap<string, MeasuredProcess>,
  { processName }: CapacityWorkload,
): MeasuredProcess {
  const running = processes.get(processName);
  if (!running) throw new Error(`${processName} does not run`);
  return running;
}

interface RateOptions {
  readonly perSecond: number;
  readonly warmUpMs: number;
  readonly seconds: number;
}

async function measureRate(
  { processes, token }: CapacityPlatform,
  workload: CapacityWorkload,
  o: RateOptions,
): Promise<RateResult> {
  const client = createHttpClient(processOf(processes, workload).url);
  const load = startLoad({
    perSecond: o.perSecond,
    send: async (count) =>
      findResponseProblem(await client.send(workload.createRequest(count, token)), [200], () => true),
  });
  await sleep(o.warmUpMs);
  load.reset();
  const [before, startedMs] = [await readCpu(processes), performance.now()];
  await sleep(o.seconds * 1_000);
  const [after, endedMs] = [await readCpu(processes), performance.now()];
  const { count, latenciesMs, sendDelayMsMax, failures } = await load.stop();
  client.close();
  return {
    perSecond: o.perSecond,
    requests: count,
    failures: [...failures.values()].reduce((sum, times) => sum + times, 0),
    p99Ms: percentile(latenciesMs, 99),
    sendDelayMsMax,
    cpuSeconds: new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)])),
    seconds: (endedMs - startedMs) / 1_000,
  };
}

/** CPU seconds by process, from the processes' metrics. */
async function readCpu(processes: ReadonlyMap<string, MeasuredProcess>): Promise<ReadonlyMap<string, number>> {
  const reading = [...processes].map(async ([name, { adminUrl }]) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return [name, Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])] as const;
  });
  return new Map(await Promise.all(reading));
}

function describe({ name }: CapacityWorkload, { perSecond, p99Ms, failures, sendDelayMsMax }: RateResult): string {
  const sendDelay = `sent at most ${sendDelayMsMax.toFixed(0)} ms late`;
  return `${name}: ${perSecond}/s, p99 ${p99Ms.toFixed(1)} ms, ${failures} failed, ${sendDelay}`;
}
