// One process of the gateway at 2, 5 and 10 times its capacity. The capacity is small on purpose, because the load runs on the same machine.
import { quantile } from "../../../../bench/measure/quantile.ts";
import { createHttpClient } from "../../traffic/http-client.ts";
import { describeFailures, type Load, startLoad } from "../../traffic/open-loop.ts";
import type { ClaimOptions } from "../../verification.ts";
import {
  claimLatencies,
  claimNoneFails,
  type LoadClients,
  measureCapacity,
  measureLoads,
  type PhaseReport,
  type Rates,
} from "./caller-load.ts";
import {
  createProcessStarter,
  createQuery,
  type LoadTarget,
  type OverloadRun,
  startEmptyHandler,
  type TestedProcess,
} from "./tested-processes.ts";

/** The load could not send ten times as many requests. */
const capacityMax = 1_500;
/** The loads as multiples of the capacity, ascending. */
const loadFactors = [2, 5, 10] as const;
const highestFactor = 10;
/** Rates as shares of the capacity. The critical one is that of every load: less than a process can serve beside its rejections at the highest load. */
const calmShare = 0.7;
const recoveryShare = 0.5;
const criticalShare = 0.25;

const warmUpSeconds = 4;
const rampSeconds = 3;
const recoverySeconds = 5;
/** Fewer requests have no meaningful p99. */
const recoveredSecondsMin = 3;
const probesPerSecond = 20;
const probeTimeoutMs = 5_000;

const goodputShareMin = 0.9;
const criticalShareMin = 0.99;
/** CPU time of a rejection as a multiple of an empty `node:http` handler's at the same load: a rejection cannot take less than that handler. */
const rejectionRatioMax = 2;
const recoveredRatioMax = 1.5;
const probeMsMax = 100;

interface Capacity {
  readonly perSecond: number;
  /** CPU time of one request, while the process is never idle. */
  readonly cpuSeconds: number;
}

interface LoadStep {
  readonly loadFactor: number;
  /** The mean of the capacities before and after the load: on a shared machine it changes by a fifth within minutes. */
  readonly capacity: Capacity;
  /** CPU time of a request to the empty handler. At a lower load, fewer requests share an iteration of the event loop. */
  readonly emptySeconds: number;
  readonly report: PhaseReport;
}

/** @param seconds for which each load is measured. */
export async function checkPressure(seconds: number, run: OverloadRun): Promise<void> {
  const start = await createProcessStarter(run);
  const tested = await start("gateway", { ADMISSION: String(!run.isControl) });
  const emptyHandler = await startEmptyHandler(run);
  const clientsOf = (target: LoadTarget): LoadClients => {
    return { target, requestOf: (priority) => createQuery(target, priority), onRepeat: () => probes.reset() };
  };
  const clients = clientsOf(tested);
  await measureCapacity(clients, warmUpSeconds);
  const capacity = await measureCapacity(clients, seconds);
  run.claim(`the measured capacity is below ${capacityMax}/s`, capacity.perSecond < capacityMax, {
    measured: `${capacity.perSecond.toFixed(0)}/s, ${toMicroseconds(capacity.cpuSeconds)} of CPU time each`,
    control: "holds",
  });
  if (capacity.perSecond >= capacityMax) return;
  const probes = startLivenessProbes(tested, run);
  // Not in the control, whose process is still late.
  const remeasureCapacity = () => (run.isControl ? capacity : measureCapacity(clients, rampSeconds));
  const loadOf = (name: string, perSecond: number) => {
    return { name, rates: toRates(perSecond, criticalShare * capacity.perSecond), rampSeconds, seconds };
  };
  // V8's helper thread optimizes code and collects garbage in the first seconds of a new load, on the core of the process: that is no part of calm.
  const calmLoad = { ...loadOf("calm", calmShare * capacity.perSecond), rampSeconds: Math.max(rampSeconds, seconds) };
  const [calm] = await measureLoads(clients, [calmLoad], run);
  const steps: LoadStep[] = [];
  let before = await remeasureCapacity();
  for (const loadFactor of loadFactors) {
    const load = loadOf(`${loadFactor}x`, loadFactor * before.perSecond);
    const [empty] = await measureLoads(
      clientsOf(emptyHandler),
      [{ ...load, name: `empty handler, ${load.name}` }],
      run,
    );
    const recovery = {
      ...loadOf("recovered", recoveryShare * before.perSecond),
      rampSeconds: recoverySeconds,
      seconds: Math.max(seconds, recoveredSecondsMin),
    };
    const loads = loadFactor === highestFactor ? [load, recovery] : [load];
    const [report, recovered] = await measureLoads(clients, loads, run);
    const after = await remeasureCapacity();
    if (!calm || !empty || !report) throw new Error("A load has no report");
    const emptySeconds = empty.cpuSeconds / empty.all.rejected;
    steps.push({ loadFactor, capacity: meanOf(before, after), emptySeconds, report });
    before = after;
    if (recovered) claimRecovery(recovered, calm, run);
  }
  claimSteps(steps, run);
  await claimProbes(probes, run);
  run.claim("the process runs without a restart", tested.isRunning(), { control: "holds" });
  await Promise.all([tested.stop(), emptyHandler.stop()]);
}

/** As a container runtime sends them: each over a new connection, also while earlier ones are pending. */
function startLivenessProbes({ adminPort }: TestedProcess, { onCleanup }: OverloadRun): Load {
  const client = createHttpClient(`http://127.0.0.1:${adminPort}`, probeTimeoutMs);
  onCleanup(() => client.close());
  return startLoad({
    perSecond: probesPerSecond,
    async send() {
      const headers = { connection: "close" };
      const { status } = await client.send({ method: "GET", path: "/health/live", headers });
      return status === 200 ? undefined : `status ${status}`;
    },
  });
}

/** A third of the requests that are not critical are background. */
function toRates(perSecond: number, criticalPerSecond: number): Rates {
  // At most half, also if the machine has become much slower since the first measurement of the capacity.
  const critical = Math.min(criticalPerSecond, perSecond / 2);
  const others = perSecond - critical;
  return { critical, normal: (others * 2) / 3, background: others / 3 };
}

function meanOf(first: Capacity, second: Capacity): Capacity {
  return {
    perSecond: (first.perSecond + second.perSecond) / 2,
    cpuSeconds: (first.cpuSeconds + second.cpuSeconds) / 2,
  };
}

/**
 * The highest possible goodput (requests per second that are served in time) at `loadFactor` times the capacity, if all other requests are rejected:
 * serving and rejecting together take all CPU time.
 */
function goodputBound(loadFactor: number, rejectionSeconds: number, { perSecond, cpuSeconds }: Capacity): number {
  const rejectionCost = rejectionSeconds / cpuSeconds;
  return (perSecond * (1 - loadFactor * rejectionCost)) / (1 - rejectionCost);
}

function claimSteps(steps: readonly LoadStep[], run: OverloadRun): void {
  // At the highest load, where the process rejects the most requests.
  const highest = steps.at(-1);
  if (!highest) throw new Error("There is no load step");
  const { all, cpuSeconds } = highest.report;
  const servedCpuSeconds = (all.good + all.late) * highest.capacity.cpuSeconds;
  const rejectionSeconds = (cpuSeconds - servedCpuSeconds) / Math.max(all.rejected, 1);
  const rejectionRatio = rejectionSeconds / highest.emptySeconds;
  if (!run.isControl) {
    run.claim(
      `a rejection takes at most ${rejectionRatioMax} times the CPU time of an empty node:http handler at the same load`,
      rejectionRatio <= rejectionRatioMax,
      {
        measured: `${rejectionRatio.toFixed(1)} times: ${toMicroseconds(rejectionSeconds)} and ${toMicroseconds(highest.emptySeconds)}, ${all.rejected} rejections`,
      },
    );
  }
  // A ratio above the limit of the claim above does not lower the bound: otherwise its failure would make the goodput claim easier.
  const limitedRatio = Math.min(Math.max(rejectionRatio, 0), rejectionRatioMax);
  for (const { loadFactor, capacity, emptySeconds, report } of steps) {
    // In the control every request is admitted, so rejections take no CPU time.
    const bound = goodputBound(loadFactor, run.isControl ? 0 : limitedRatio * emptySeconds, capacity);
    claimGoodput(loadFactor, report, bound, run);
    claimLatencies(report, run);
    claimNoneFails(report, run);
  }
}

function claimGoodput(
  loadFactor: number,
  { all, classes, seconds }: PhaseReport,
  bound: number,
  run: OverloadRun,
): void {
  // At 2x, the backlog of a short run may be small.
  const inControl: ClaimOptions = loadFactor > 2 ? { control: "fails" } : {};
  const goodPerSecond = all.good / seconds;
  run.claim(`goodput at ${loadFactor}x is at least 90 % of the bound`, goodPerSecond >= goodputShareMin * bound, {
    measured: `${goodPerSecond.toFixed(0)}/s, ${toPercent(goodPerSecond / bound)} of ${bound.toFixed(0)}/s`,
    ...inControl,
  });
  const { good, sent } = classes.critical;
  run.claim(
    `at ${loadFactor}x 99 % of critical requests are served within 1 s`,
    sent > 0 && good >= criticalShareMin * sent,
    { measured: `${toPercent(good / sent)} of ${sent}`, ...inControl },
  );
}

function claimRecovery(recovered: PhaseReport, calm: PhaseReport, { claim }: OverloadRun): void {
  const { good, sent } = recovered.all;
  claim(
    `${recoverySeconds} s after the load has fallen from 10x to 50 %, all requests are served as fast as in calm`,
    good === sent && p99MsOf(recovered) <= recoveredRatioMax * p99MsOf(calm),
    {
      measured: `${good} of ${sent}, p99 ${p99MsOf(recovered).toFixed(1)} ms, calm ${p99MsOf(calm).toFixed(1)} ms`,
    },
  );
}

async function claimProbes(probes: Load, { claim }: OverloadRun): Promise<void> {
  const { count, latenciesMs, failures } = await probes.stop();
  const slow = latenciesMs.filter((latencyMs) => latencyMs > probeMsMax);
  claim(`no liveness probe takes more than ${probeMsMax} ms`, count > 0 && slow.length === 0 && failures.size === 0, {
    measured: `${slow.length} of ${count}, longest ${quantile(latenciesMs, 1).toFixed(0)} ms, failures: ${describeFailures(failures)}`,
  });
}

function p99MsOf({ all }: PhaseReport): number {
  return quantile(all.latenciesMs, 0.99);
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function toMicroseconds(seconds: number): string {
  return `${(seconds * 1e6).toFixed(0)} µs`;
}
