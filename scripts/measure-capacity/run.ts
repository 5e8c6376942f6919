import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient, findResponseProblem } from "../processes/http-client.ts";
import { percentile, startLoad } from "../processes/open-loop.ts";
import type { CapacityOptions } from "./options.ts";
import { type Platform, startPlatform, type Unit } from "./platform.ts";
import { findHeld, type Found, type Held } from "./ramp.ts";
import { type Workload, workloads } from "./workloads.ts";

export interface Result extends Found {
  readonly workload: Workload;
}

const warmUpMs = 1_000;
/** What has been asked often is several times as fast as what has just begun, here and there: so first as fast as it goes. */
const firstWarmUpMs = 12_000;
const firstAskers = 16;

/** Each workload by itself, one after the other. Whatever was started is ended. */
export async function measureAll(
  { p99MsMax, seconds, only }: CapacityOptions,
  say: (line: string) => void,
): Promise<readonly Result[]> {
  const ends: (() => unknown)[] = [];
  const results: Result[] = [];
  try {
    const platform = await startPlatform(ends, say);
    for (const workload of workloads.filter(({ name }) => only.includes(name))) {
      await warmUp(platform, workload);
      const measure = async (perSecond: number) => {
        const held = await hold(platform, workload, { perSecond, warmUpMs, seconds });
        say(describe(workload, held));
        return held;
      };
      results.push({ workload, ...(await findHeld({ p99MsMax, measure })) });
    }
  } finally {
    for (const end of ends.reverse()) await end();
  }
  return results;
}

async function warmUp({ units, token }: Platform, workload: Workload): Promise<void> {
  const client = createHttpClient(unitOf(units, workload).url);
  const endMs = performance.now() + firstWarmUpMs;
  let count = 0;
  const ask = async () => {
    while (performance.now() < endMs) await client.send(workload.question(count++, token));
  };
  await Promise.all(Array.from({ length: firstAskers }, ask));
  client.close();
}

function unitOf(units: ReadonlyMap<string, Unit>, { unit }: Workload): Unit {
  const found = units.get(unit);
  if (!found) throw new Error(`no ${unit} runs`);
  return found;
}

interface HoldOptions {
  readonly perSecond: number;
  readonly warmUpMs: number;
  readonly seconds: number;
}

async function hold({ units, token }: Platform, workload: Workload, o: HoldOptions): Promise<Held> {
  const client = createHttpClient(unitOf(units, workload).url);
  const load = startLoad({
    perSecond: o.perSecond,
    send: async (count) => findResponseProblem(await client.send(workload.question(count, token)), [200], () => true),
  });
  await sleep(o.warmUpMs);
  load.reset();
  const [before, begunMs] = [await readCpu(units), performance.now()];
  await sleep(o.seconds * 1_000);
  const [after, endedMs] = [await readCpu(units), performance.now()];
  const { count, latenciesMs, sendDelayMsMax, failures } = await load.stop();
  client.close();
  return {
    perSecond: o.perSecond,
    requests: count,
    failures: [...failures.values()].reduce((sum, times) => sum + times, 0),
    p99Ms: percentile(latenciesMs, 99),
    sendDelayMsMax,
    cpuSeconds: new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)])),
    seconds: (endedMs - begunMs) / 1_000,
  };
}

/** As each process counts it itself. */
async function readCpu(units: ReadonlyMap<string, Unit>): Promise<ReadonlyMap<string, number>> {
  const reading = [...units].map(async ([name, { adminUrl }]) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return [name, Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])] as const;
  });
  return new Map(await Promise.all(reading));
}

function describe({ name }: Workload, { perSecond, p99Ms, failures, sendDelayMsMax }: Held): string {
  const late = `sent ${sendDelayMsMax.toFixed(0)} ms late at the latest`;
  return `${name}: ${perSecond}/s, p99 ${p99Ms.toFixed(1)} ms, ${failures} failed, ${late}`;
}
