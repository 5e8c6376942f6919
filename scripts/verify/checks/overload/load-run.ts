// Runs one job of the load process: sends the requests of each phase when they are due, and counts what becomes of them.
import { setTimeout as sleep } from "node:timers/promises";
import { readProcess } from "../../../../bench/measure/proc.ts";
import { type LoadConnections, openLoadConnections, type RequestOutcome } from "./load-connections.ts";
import {
  firstUnique,
  type KindReport,
  type LoadJob,
  type LoadPhase,
  type LoadReport,
  type PhaseReport,
  uniqueMark,
} from "./load-job.ts";
import { startLivenessProbes } from "./liveness-probes.ts";

/** Time for the last responses after the last phase. */
const drainMs = 2_000;

/** The next number for `uniqueMark`. It differs between all requests of the process, so that no request is served by a cache or by coalescing. */
let nextUnique = firstUnique;

export async function runLoad(job: LoadJob): Promise<LoadReport> {
  const templates = job.phases.flatMap(({ requests }) => requests);
  const connections = await openLoadConnections(templates, job.connectionsEach);
  const probes = job.adminPort === undefined ? undefined : startLivenessProbes(job.adminPort);
  const state: RunState = { connections, firstFailure: "" };
  const phases: PhaseReport[] = [];
  for (const phase of job.phases) phases.push(await runPhase(phase, job, state));
  const probeLatenciesMs = probes?.stop() ?? [];
  await sleep(drainMs);
  connections.close();
  const kindReports = phases.flatMap(({ kinds }) => Object.values(kinds));
  for (const { latenciesMs } of kindReports) latenciesMs.sort((a, b) => a - b);
  return { phases, probeLatenciesMs, firstFailure: state.firstFailure };
}

interface RunState {
  readonly connections: LoadConnections;
  /** The reason of the first failed request of the job; empty for none. The reason of a request that has not failed is empty too. */
  firstFailure: string;
}

/** Resolves at the end of the phase. The counts in its report grow until the last of its requests has ended, so `runLoad` waits for `drainMs`. */
async function runPhase(phase: LoadPhase, job: LoadJob, state: RunState): Promise<PhaseReport> {
  const kinds: Record<string, KindReport> = {};
  const prepared = phase.requests.map((template) => {
    const report = kinds[template.kind] ?? createKindReport();
    kinds[template.kind] = report;
    const { text } = template;
    return { template, report, bytes: Buffer.from(text, "latin1"), markIndex: text.indexOf(uniqueMark) };
  });
  let sent = 0;

  function sendNext(dueMs: number, onEnd: () => void): void {
    const request = prepared[sent % prepared.length];
    if (!request) throw new Error("The phase has no requests");
    sent++;
    const { template, report, bytes, markIndex } = request;
    report.sent++;
    state.connections.send(template, insertUniqueNumber(bytes, markIndex), (outcome) => {
      count(report, outcome, performance.now() - dueMs, job.inTimeMs);
      if (state.firstFailure === "") state.firstFailure = outcome.reason;
      onEnd();
    });
  }

  const readCpuSeconds = () => (job.pid === undefined ? 0 : readProcess(job.pid).cpuSeconds);
  const cpuSecondsBefore = readCpuSeconds();
  const runLoop = phase.perSecond === undefined ? runClosedLoop : runOpenLoop;
  const lagMs = await runLoop(phase, sendNext);
  const cpuSeconds = readCpuSeconds() - cpuSecondsBefore;
  return { name: phase.name, seconds: phase.seconds, cpuSeconds, kinds, lagMs: phase.isRamp ? 0 : lagMs };
}

/** @param dueMs the latency counts from this time. @param onEnd called once, also if the request fails. */
type SendNext = (dueMs: number, onEnd: () => void) => void;

/**
 * Sends requests at fixed times. @returns the longest time between a request's due time and its sending. In a ramp, whose latencies are not used, it
 * does not matter.
 */
function runOpenLoop({ seconds, perSecond = 0 }: LoadPhase, sendNext: SendNext): Promise<number> {
  const startMs = performance.now();
  const total = Math.round(perSecond * seconds);
  const onEnd = () => {};
  let sent = 0;
  let lagMs = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (; sent < total; sent++) {
        const dueMs = startMs + (sent * 1_000) / perSecond;
        if (dueMs > nowMs) return;
        lagMs = Math.max(lagMs, nowMs - dueMs);
        sendNext(dueMs, onEnd);
      }
      // The phase lasts until the next request would be due.
      if (nowMs < startMs + seconds * 1_000) return;
      clearInterval(timer);
      resolve(lagMs);
    }, 1);
  });
}

/** Sends the next request of a connection after its response. @returns 0, since a request that is due at once is not sent late. */
async function runClosedLoop({ seconds, connections = 1 }: LoadPhase, sendNext: SendNext): Promise<number> {
  let isRunning = true;
  const sendAgain = () => {
    if (isRunning) sendNext(performance.now(), sendAgain);
  };
  for (let started = 0; started < connections; started++) sendAgain();
  await sleep(seconds * 1_000);
  isRunning = false;
  return 0;
}

/** Replaces `uniqueMark` in a copy of the request by a number of the same length. @param markIndex -1: the request does not contain it. */
function insertUniqueNumber(bytes: Buffer, markIndex: number): Buffer {
  if (markIndex === -1) return bytes;
  const unique = Buffer.from(bytes);
  unique.write(String(nextUnique), markIndex, "latin1");
  nextUnique++;
  return unique;
}

function createKindReport(): KindReport {
  return { sent: 0, good: 0, late: 0, rejected: 0, limited: 0, failed: 0, latenciesMs: [] };
}

function count(report: KindReport, { kind }: RequestOutcome, latencyMs: number, inTimeMs: number): void {
  if (kind !== "served") {
    report[kind]++;
    return;
  }
  report.latenciesMs.push(latencyMs);
  if (latencyMs <= inTimeMs) report.good++;
  else report.late++;
}
