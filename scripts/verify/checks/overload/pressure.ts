// The parts `gateway` and `rest-proxy` of overload: one process at 2, 5 and 10 times its capacity. The capacity is small on purpose, because the load
// generator runs on the same machine: each response has 1,000 or more items, and each response of the REST proxy is a compressed cache miss.
import { quantile } from "../../../../bench/measure/quantile.ts";
import { createRequest, type EndpointKind, interleave, type Priority } from "./endpoints.ts";
import type { LoadPhase, LoadReport, PhaseReport, RequestTemplate } from "./load-job.ts";
import { type LoadTestbed, startLoadTestbed, type TestedProcess } from "./load-testbed.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import type { ClaimOptions } from "../../verification.ts";
import { describePhase, type PhaseSummary, summarize } from "./phase-summary.ts";

const capacityMax = 1_500;
/** Fewer than a process admits at once, so that it rejects none, and enough that it is never idle. */
const capacityConnections = 24;
/** The loads as multiples of the capacity, ascending. */
const loadFactors = [2, 5, 10] as const;
/** The loads of the calm phase and of the recovery, as shares of the capacity. */
const calmShare = 0.7;
const recoveryShare = 0.5;
/** The rate of critical requests, as a share of `goodputBound` at the highest load: no process could serve more of them than that bound. */
const criticalShare = 0.5;

const inTimeMs = 1_000;
const connectionsEach = 256;
const warmUpSeconds = 4;
const rampSeconds = 3;
const recoverySeconds = 5;
/** Fewer requests have no meaningful p99. */
const recoveredSecondsMin = 3;

const goodputShareMin = 0.9;
const criticalShareMin = 0.99;
/** CPU time of a rejection as a multiple of an empty `node:http` handler's at the same load: a rejection cannot take less than that handler. */
const rejectionRatioMax = 2;
/**
 * Limits for p99 of the served requests of each class. They are no small multiple of the calm p99, because at saturation a request waits for four or
 * five iterations of the event loop, of 5 ms each. Critical requests wait rather than being rejected (docs/overload.md).
 */
const p99MsMax = { critical: 500, normal: 200, background: 200 } as const satisfies Record<Priority, number>;
const recoveredRatioMax = 1.5;
const probeMsMax = 100;

const control = "ADMISSION=false: every request is admitted";
const purpose =
  "at 2, 5 and 10 times its capacity it serves as many requests in time as it can, critical ones first, and recovers within 5 s";

export const gatewayPart: OverloadPart = {
  name: "gateway",
  purpose,
  control,
  run: (run) => checkPressure("gateway", run),
};

export const restProxyPart: OverloadPart = {
  name: "rest-proxy",
  purpose,
  control,
  run: (run) => checkPressure("rest-proxy", run),
};

interface Capacity {
  readonly perSecond: number;
  /** CPU time of one request, while the process is never idle. */
  readonly cpuSeconds: number;
}

/** One load. */
interface LoadStep {
  readonly loadFactor: number;
  /** The mean of the capacities before and after the load: on a shared machine it changes by a fifth within minutes. */
  readonly capacity: Capacity;
  readonly summary: PhaseSummary;
}

/** The measurements without overload, to which the steps are compared. */
interface PressureBaseline {
  readonly calm: PhaseSummary;
  readonly emptyHandlerSeconds: EmptyHandlerSeconds;
}

/** CPU time of one request to the empty handler, by load factor: at a lower load, fewer requests share an iteration of the event loop. */
type EmptyHandlerSeconds = ReadonlyMap<number, number>;

async function checkPressure(kind: EndpointKind, run: PartRun): Promise<void> {
  const testbed = await startLoadTestbed(run);
  const tested = await testbed.start(kind, { ADMISSION: String(!run.isControl) });
  const capacity = await measureCapacity(testbed, tested, { warmUpSeconds, seconds: run.options.seconds });
  run.claim(`the measured capacity is below ${capacityMax}/s`, capacity.perSecond < capacityMax, {
    measured: `${capacity.perSecond.toFixed(0)}/s, ${toMicroseconds(capacity.cpuSeconds)} of CPU time each`,
    control: "holds",
  });
  // The load process could not send ten times as many requests.
  if (capacity.perSecond >= capacityMax) return;
  const emptyHandlerSeconds = await measureEmptyHandler(testbed, { kind, capacity }, run);
  const highestFactor = Math.max(...loadFactors);
  const rejectionSecondsMax = rejectionRatioMax * emptyHandlerSecondsAt(highestFactor, emptyHandlerSeconds);
  const criticalPerSecond = criticalShare * goodputBound(highestFactor, rejectionSecondsMax, capacity);
  const load = createMixedLoad(testbed, tested, criticalPerSecond, run);
  const calmPerSecond = calmShare * capacity.perSecond;
  // In the first seconds of a new load V8's helper thread optimizes code and collects garbage, on the core of the process: some responses take 100 ms
  // or more. That is no part of calm.
  const settlingSeconds = Math.max(rampSeconds, run.options.seconds);
  const calmReport = await load.run([
    load.createPhase("before calm", calmPerSecond, settlingSeconds, true),
    load.createPhase("calm", calmPerSecond, run.options.seconds),
  ]);
  const calm = summarize(calmReport.phases[1]);
  const remeasureCapacity = async () => {
    // Not in the control, whose process is still late.
    return run.isControl
      ? capacity
      : await measureCapacity(testbed, tested, { warmUpSeconds: 1, seconds: rampSeconds });
  };
  const steps: LoadStep[] = [];
  let recovered: PhaseReport | undefined;
  let before = await remeasureCapacity();
  for (const loadFactor of loadFactors) {
    const report = await load.run(createStepPhases(load, loadFactor, before.perSecond, run.options.seconds));
    const after = await remeasureCapacity();
    steps.push({ loadFactor, capacity: meanOf(before, after), summary: summarize(report.phases[1]) });
    before = after;
    // Undefined except after the highest load.
    recovered = report.phases[3];
  }
  claimSteps(steps, { calm, emptyHandlerSeconds }, run);
  claimRecovery(summarize(recovered), calm, run);
  claimProcess(tested, load.probeLatenciesMs, run);
}

/** Phases of requests of all priorities. Critical requests have the same rate in each phase. */
interface MixedLoad {
  /** @param perSecond the rate of all requests together. */
  createPhase(name: string, perSecond: number, seconds: number, isRamp?: boolean): LoadPhase;
  run(phases: readonly LoadPhase[]): Promise<LoadReport>;
  /** Of all runs so far. */
  readonly probeLatenciesMs: readonly number[];
}

function createMixedLoad(
  testbed: LoadTestbed,
  tested: TestedProcess,
  criticalPerSecond: number,
  { print, isControl }: PartRun,
): MixedLoad {
  const probeLatenciesMs: number[] = [];
  return {
    probeLatenciesMs,
    createPhase(name, perSecond, seconds, isRamp = false) {
      const requests = createMix(tested, criticalPerSecond / perSecond);
      return { name, seconds, isRamp, perSecond, requests };
    },
    async run(phases) {
      const { pid, adminPort } = tested;
      // In the control all responses are long, and the load process itself is late.
      const report = await testbed.run({ phases, inTimeMs, connectionsEach, pid, adminPort }, !isControl);
      probeLatenciesMs.push(...report.probeLatenciesMs);
      for (const phase of report.phases) print(describePhase(phase));
      if (report.firstFailure !== "") print(`the first failed request: ${report.firstFailure}`);
      return report;
    },
  };
}

/** A ramp and the measured phase; after the highest load also the recovery and a measured phase after it. */
function createStepPhases(
  load: MixedLoad,
  loadFactor: number,
  capacityPerSecond: number,
  measuredSeconds: number,
): readonly LoadPhase[] {
  const perSecond = loadFactor * capacityPerSecond;
  const phases = [
    load.createPhase(`ramp to ${loadFactor}x`, perSecond, rampSeconds, true),
    load.createPhase(`${loadFactor}x`, perSecond, measuredSeconds),
  ];
  if (loadFactor === loadFactors.at(-1)) {
    const recoveryPerSecond = recoveryShare * capacityPerSecond;
    const recoveredSeconds = Math.max(measuredSeconds, recoveredSecondsMin);
    phases.push(
      load.createPhase("recovering", recoveryPerSecond, recoverySeconds, true),
      load.createPhase("recovered", recoveryPerSecond, recoveredSeconds),
    );
  }
  return phases;
}

interface CapacityOptions {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** The throughput of a closed loop after a warm-up. */
async function measureCapacity(
  testbed: LoadTestbed,
  tested: TestedProcess,
  options: CapacityOptions,
): Promise<Capacity> {
  const closedLoop = { connections: capacityConnections, requests: [createRequest(tested)] };
  const report = await testbed.run({
    phases: [
      { name: "warm-up", seconds: options.warmUpSeconds, ...closedLoop },
      { name: "capacity", seconds: options.seconds, ...closedLoop },
    ],
    inTimeMs,
    connectionsEach,
    pid: tested.pid,
  });
  const { perSecond, served, cpuSeconds, failed } = summarize(report.phases[1]);
  if (served === 0 || failed > 0) throw new Error(`The capacity cannot be measured: ${report.firstFailure}`);
  return { perSecond, cpuSeconds: cpuSeconds / served };
}

/** The CPU time of one request to the empty handler at each load. The handler rejects every request, so its responses count as rejected. */
async function measureEmptyHandler(
  testbed: LoadTestbed,
  { kind, capacity }: { readonly kind: EndpointKind; readonly capacity: Capacity },
  run: PartRun,
): Promise<EmptyHandlerSeconds> {
  const { pid, port, stop } = await testbed.startEmptyHandler();
  const requests = createMix({ kind, port }, 0);
  const secondsByFactor = new Map<number, number>();
  for (const loadFactor of loadFactors) {
    const perSecond = loadFactor * capacity.perSecond;
    const report = await testbed.run({
      phases: [
        { name: "warm-up", seconds: rampSeconds, isRamp: true, perSecond, requests },
        { name: "empty handler", seconds: run.options.seconds, perSecond, requests },
      ],
      inTimeMs,
      connectionsEach,
      pid,
    });
    const { rejected, cpuSeconds, failed } = summarize(report.phases[1]);
    if (rejected === 0 || failed > 0) throw new Error(`The empty handler cannot be measured: ${report.firstFailure}`);
    secondsByFactor.set(loadFactor, cpuSeconds / rejected);
  }
  await stop();
  return secondsByFactor;
}

function emptyHandlerSecondsAt(loadFactor: number, secondsByFactor: EmptyHandlerSeconds): number {
  const seconds = secondsByFactor.get(loadFactor);
  if (seconds === undefined) throw new Error(`The empty handler was not measured at ${loadFactor}x`);
  return seconds;
}

function meanOf(first: Capacity, second: Capacity): Capacity {
  return {
    perSecond: (first.perSecond + second.perSecond) / 2,
    cpuSeconds: (first.cpuSeconds + second.cpuSeconds) / 2,
  };
}

const clientAddresses = { normal: "127.0.0.1", critical: "127.0.0.2", background: "127.0.0.3" };

interface LoadTarget {
  readonly kind: EndpointKind;
  readonly port: number;
}

/** @param share the share of critical requests, 0 to 1. A third of the other requests are background. */
function createMix(target: LoadTarget, share: number): readonly RequestTemplate[] {
  const create = (priority: Priority) => createRequest(target, { priority, localAddress: clientAddresses[priority] });
  const others = [create("normal"), create("normal"), create("background")];
  return interleave(share, [create("critical")], others);
}

/**
 * The highest possible goodput (requests per second that are served in time) at `loadFactor` times the capacity, if all other requests are rejected:
 * serving and rejecting together take all CPU time. `rejectionCost` is the CPU time of a rejection divided by that of a served request.
 */
function goodputBound(loadFactor: number, rejectionSeconds: number, { perSecond, cpuSeconds }: Capacity): number {
  const rejectionCost = rejectionSeconds / cpuSeconds;
  return (perSecond * (1 - loadFactor * rejectionCost)) / (1 - rejectionCost);
}

function claimSteps(steps: readonly LoadStep[], { calm, emptyHandlerSeconds }: PressureBaseline, run: PartRun): void {
  // At the highest load, where the process rejects the most requests.
  const highest = steps.at(-1);
  if (!highest) throw new Error("There is no load step");
  const { cpuSeconds, served, rejected } = highest.summary;
  const servedCpuSeconds = served * highest.capacity.cpuSeconds;
  const rejectionSeconds = (cpuSeconds - servedCpuSeconds) / Math.max(rejected, 1);
  const emptySeconds = emptyHandlerSecondsAt(highest.loadFactor, emptyHandlerSeconds);
  const rejectionRatio = rejectionSeconds / emptySeconds;
  if (!run.isControl) {
    run.claim(
      `a rejection takes at most ${rejectionRatioMax} times the CPU time of an empty node:http handler at the same load`,
      rejectionRatio <= rejectionRatioMax,
      {
        measured: `${rejectionRatio.toFixed(1)} times: ${toMicroseconds(rejectionSeconds)} and ${toMicroseconds(emptySeconds)}, ${rejected} rejections`,
      },
    );
  }
  // A ratio above the limit of the claim above does not lower the bound: otherwise its failure would make the goodput claim easier.
  const limitedRatio = Math.min(Math.max(rejectionRatio, 0), rejectionRatioMax);
  for (const { loadFactor, capacity, summary } of steps) {
    const stepRejectionSeconds = limitedRatio * emptyHandlerSecondsAt(loadFactor, emptyHandlerSeconds);
    // In the control every request is admitted, so rejections take no CPU time.
    const bound = goodputBound(loadFactor, run.isControl ? 0 : stepRejectionSeconds, capacity);
    claimGoodput(loadFactor, summary, bound, run);
    claimLatencies(loadFactor, summary, calm, run);
    run.claim(`no request fails at ${loadFactor}x except by rejection`, summary.failed === 0, {
      measured: `${summary.failed}`,
    });
  }
}

function claimGoodput(loadFactor: number, { goodPerSecond, kinds }: PhaseSummary, bound: number, run: PartRun): void {
  // At 2x the REST proxy needs no admission: it saves the time of compression, since responses that would wait too long for it are sent uncompressed.
  const inControl: ClaimOptions = loadFactor > 2 ? { control: "fails" } : {};
  run.claim(`goodput at ${loadFactor}x is at least 90 % of the bound`, goodPerSecond >= goodputShareMin * bound, {
    measured: `${goodPerSecond.toFixed(0)}/s, ${toPercent(goodPerSecond / bound)} of ${bound.toFixed(0)}/s`,
    ...inControl,
  });
  const { good, sent } = kinds["critical"] ?? { good: 0, sent: 0 };
  run.claim(
    `at ${loadFactor}x 99 % of critical requests are served within 1 s`,
    sent > 0 && good >= criticalShareMin * sent,
    {
      measured: `${toPercent(good / sent)} of ${sent}`,
      ...inControl,
    },
  );
}

function claimLatencies(loadFactor: number, summary: PhaseSummary, calm: PhaseSummary, { claim }: PartRun): void {
  const p99Of = (priority: Priority) => quantile(summary.kinds[priority]?.latenciesMs ?? [], 0.99);
  const priorities = Object.keys(p99MsMax) as Priority[];
  const limits = priorities.map((priority) => `${priority} ${p99MsMax[priority]} ms`);
  const measured = priorities.map((priority) => `${priority} ${p99Of(priority).toFixed(0)} ms`);
  claim(
    `p99 of served requests at ${loadFactor}x is at most: ${limits.join(", ")}`,
    summary.served > 0 && priorities.every((priority) => p99Of(priority) <= p99MsMax[priority]),
    { measured: `${measured.join(", ")}; calm ${calm.p99Ms.toFixed(1)} ms` },
  );
}

function claimRecovery(recovered: PhaseSummary, calm: PhaseSummary, { claim }: PartRun): void {
  claim(
    `${recoverySeconds} s after the load has fallen from 10x to 50 %, all requests are served as fast as in calm`,
    recovered.good === recovered.sent && recovered.p99Ms <= recoveredRatioMax * calm.p99Ms,
    {
      measured: `${recovered.good} of ${recovered.sent}, p99 ${recovered.p99Ms.toFixed(1)} ms, calm ${calm.p99Ms.toFixed(1)} ms`,
    },
  );
}

function claimProcess(tested: TestedProcess, probeLatenciesMs: readonly number[], { claim }: PartRun): void {
  const slow = probeLatenciesMs.filter((latencyMs) => latencyMs > probeMsMax);
  claim(`no liveness probe takes more than ${probeMsMax} ms`, probeLatenciesMs.length > 0 && slow.length === 0, {
    measured: `${slow.length} of ${probeLatenciesMs.length}, longest ${quantile(probeLatenciesMs, 1).toFixed(0)} ms`,
  });
  claim("the process runs without a restart", tested.isRunning(), { control: "holds" });
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function toMicroseconds(seconds: number): string {
  return `${(seconds * 1e6).toFixed(0)} µs`;
}
