// One process of the gateway at 2, 5 and 10 times its capacity. The capacity is small on purpose, because the load runs on the same machine.
import { quantile } from "../../../../bench/measure/quantile.ts";
import { createHttpClient } from "../../traffic/http-client.ts";
import { measureInTime } from "../../traffic/measure-in-time.ts";
import { describeFailures, type Load, startLoad } from "../../traffic/open-loop.ts";
import type { ClaimOptions } from "../../verification.ts";
import { describePhase, type LoadPhase, type PhaseReport, sendInClosedLoop, sendPhases } from "./caller-load.ts";
import { claimRejectionCost, toMicroseconds } from "./rejection-cost.ts";
import {
  createProcessStarter,
  createRequest,
  type LoadTarget,
  type OverloadRun,
  type Priority,
  type TestedProcess,
} from "./tested-processes.ts";

/** The load could not send ten times as many requests. */
const capacityMax = 1_500;
/** Fewer than a process admits at once, so that it rejects none, and enough that it is never idle. */
const capacityClients = 24;
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
/**
 * Limits for p99 of the served requests of each class. They are no small multiple of the calm p99, because at saturation a request waits for four or
 * five iterations of the event loop, of 5 ms each. Critical requests wait rather than being rejected (docs/overload.md).
 */
const p99MsMax = { critical: 500, normal: 200, background: 200 } as const satisfies Record<Priority, number>;
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
  /** CPU time of one. */
  readonly rejectionSeconds: number;
  readonly calm: PhaseReport;
}

/** @param seconds for which each load is measured. */
export async function checkPressure(seconds: number, run: OverloadRun): Promise<void> {
  const start = await createProcessStarter(run);
  // In the control no request is rejected.
  const rejectionSeconds = run.isControl
    ? 0
    : await claimRejectionCost({ kind: "gateway", createRequest, seconds }, start, run);
  const tested = await start("gateway", { ADMISSION: String(!run.isControl) });
  await measureCapacity(tested, warmUpSeconds);
  const capacity = await measureCapacity(tested, seconds);
  run.claim(`the measured capacity is below ${capacityMax}/s`, capacity.perSecond < capacityMax, {
    measured: `${capacity.perSecond.toFixed(0)}/s, ${toMicroseconds(capacity.cpuSeconds)} of CPU time each`,
    control: "holds",
  });
  if (capacity.perSecond >= capacityMax) return;
  // Not in the control, whose process is still late.
  const remeasureCapacity = () => (run.isControl ? capacity : measureCapacity(tested, rampSeconds));
  const probes = startLivenessProbes(tested, run);
  const mix = { criticalPerSecond: criticalShare * capacity.perSecond, probes, run };
  const calmLoad = {
    name: "calm",
    perSecond: calmShare * capacity.perSecond,
    // V8's helper thread optimizes code and collects garbage in the first seconds of a new load, on the core of the process: that is no part of calm.
    rampSeconds: Math.max(rampSeconds, seconds),
    seconds,
  };
  const [calm] = await measureMixes(tested, [calmLoad], mix);
  let before = await remeasureCapacity();
  for (const loadFactor of loadFactors) {
    const load = { name: `${loadFactor}x`, perSecond: loadFactor * before.perSecond, rampSeconds, seconds };
    const recovery = {
      name: "recovered",
      perSecond: recoveryShare * before.perSecond,
      rampSeconds: recoverySeconds,
      seconds: Math.max(seconds, recoveredSecondsMin),
    };
    const loads = loadFactor === highestFactor ? [load, recovery] : [load];
    const [report, recovered] = await measureMixes(tested, loads, mix);
    const after = await remeasureCapacity();
    claimStep(report, { loadFactor, capacity: meanOf(before, after), rejectionSeconds, calm }, run);
    before = after;
    if (recovered) claimRecovery(recovered, calm, run);
  }
  await claimProbes(probes, run);
  run.claim("the process runs without a restart", tested.isRunning(), { control: "holds" });
  await tested.stop();
}

function measureCapacity(tested: TestedProcess, seconds: number): Promise<Capacity> {
  return sendInClosedLoop(createRequest(tested), { clients: capacityClients, seconds, pid: tested.pid });
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

interface MixedLoad {
  readonly name: string;
  /** Of all priorities together. */
  readonly perSecond: number;
  /** At the same rate, before the measurement. */
  readonly rampSeconds: number;
  readonly seconds: number;
}

interface MixOptions {
  readonly criticalPerSecond: number;
  readonly probes: Load;
  readonly run: OverloadRun;
}

/** Sends the loads one after another, and returns their reports. @throws Error if requests are sent late five times. */
async function measureMixes(
  target: LoadTarget,
  loads: readonly MixedLoad[],
  { criticalPerSecond, probes, run }: MixOptions,
): Promise<readonly [PhaseReport, PhaseReport?]> {
  const phases = loads.flatMap((load): readonly LoadPhase[] => {
    const streams = createStreams(target, load.perSecond, criticalPerSecond);
    return [
      { name: `before ${load.name}`, seconds: load.rampSeconds, streams },
      { name: load.name, seconds: load.seconds, streams },
    ];
  });
  const measureAll = async () => {
    const reports = await sendPhases(phases, target.pid);
    for (const report of reports) run.print(describePhase(report));
    return reports.filter((_, index) => index % 2 === 1) as [PhaseReport, PhaseReport?];
  };
  return measureInTime(run, measureAll, () => probes.reset());
}

const clientAddresses = { normal: "127.0.0.1", critical: "127.0.0.2", background: "127.0.0.3" };

/** A third of the requests that are not critical are background. */
function createStreams(target: LoadTarget, perSecond: number, criticalPerSecond: number): LoadPhase["streams"] {
  // At most half, also if the machine has become much slower since the first measurement of the capacity.
  const critical = Math.min(criticalPerSecond, perSecond / 2);
  const others = perSecond - critical;
  const rates = { critical, normal: (others * 2) / 3, background: others / 3 };
  const priorities = Object.keys(rates) as Priority[];
  return priorities.map((priority) => ({
    perSecond: rates[priority],
    request: createRequest(target, priority, clientAddresses[priority]),
  }));
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
function goodputBound({ loadFactor, rejectionSeconds, capacity: { perSecond, cpuSeconds } }: LoadStep): number {
  const rejectionCost = rejectionSeconds / cpuSeconds;
  return (perSecond * (1 - loadFactor * rejectionCost)) / (1 - rejectionCost);
}

function claimStep(report: PhaseReport, step: LoadStep, run: OverloadRun): void {
  const { loadFactor, calm } = step;
  claimGoodput(loadFactor, report, goodputBound(step), run);
  claimLatencies(loadFactor, report, calm, run);
  run.claim(`no request fails at ${loadFactor}x except by rejection`, report.failed === 0, {
    measured: describeFailures(report.failures),
  });
}

function claimGoodput(loadFactor: number, { all, kinds, seconds }: PhaseReport, bound: number, run: OverloadRun): void {
  // At 2x, the backlog of a short run may be small.
  const inControl: ClaimOptions = loadFactor > 2 ? { control: "fails" } : {};
  const goodPerSecond = all.good / seconds;
  run.claim(`goodput at ${loadFactor}x is at least 90 % of the bound`, goodPerSecond >= goodputShareMin * bound, {
    measured: `${goodPerSecond.toFixed(0)}/s, ${toPercent(goodPerSecond / bound)} of ${bound.toFixed(0)}/s`,
    ...inControl,
  });
  const { good, sent } = kinds.get("critical") ?? { good: 0, sent: 0 };
  run.claim(
    `at ${loadFactor}x 99 % of critical requests are served within 1 s`,
    sent > 0 && good >= criticalShareMin * sent,
    { measured: `${toPercent(good / sent)} of ${sent}`, ...inControl },
  );
}

function claimLatencies(loadFactor: number, { kinds }: PhaseReport, calm: PhaseReport, { claim }: OverloadRun): void {
  const p99Of = (priority: Priority) => quantile(kinds.get(priority)?.latenciesMs ?? [], 0.99);
  const priorities = Object.keys(p99MsMax) as Priority[];
  const limits = priorities.map((priority) => `${priority} ${p99MsMax[priority]} ms`);
  const measured = priorities.map((priority) => `${priority} ${p99Of(priority).toFixed(0)} ms`);
  claim(
    `p99 of served requests at ${loadFactor}x is at most: ${limits.join(", ")}`,
    priorities.every((priority) => p99Of(priority) <= p99MsMax[priority]),
    { measured: `${measured.join(", ")}; calm ${p99MsOf(calm).toFixed(1)} ms` },
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
