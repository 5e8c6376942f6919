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
  const failures: string[] = [];
  const phases: PhaseReport[] = [];
  for (const phase of job.phases) phases.push(await runPhase(phase, job, { connections, failures }));
  const probeLatenciesMs = probes?.stop() ?? [];
  await sleep(drainMs);
  connections.close();
  for (const { kinds } of phases) for (const { latenciesMs } of Object.values(kinds)) latenciesMs.sort((a, b) => a - b);
  return { phases, probeLatenciesMs, firstFailure: failures[0] ?? "" };
}

interface RunState {
  readonly connections: LoadConnections;
  /** The reason of the first failed request of the job; empty for none. */
  readonly failures: string[];
}

/** Resolves at the end of the phase. The counts in its report grow until the last of its requests has ended, so `runLoad` waits for `drainMs`. */
async function runPhase(phase: LoadPhase, job: LoadJob, { connections, failures }: RunState): Promise<PhaseReport> {
  const kinds: Record<string, KindReport> = {};
  const prepared = phase.requests.map((template) => {
    const kind = (kinds[template.kind] ??= createKindReport());
    return { template, kind, bytes: Buffer.from(template.text, "latin1"), markAt: template.text.indexOf(uniqueMark) };
  });
  let next = 0;

  function sendNext(dueMs: number, onEnd: () => void): void {
    const { template, kind, bytes, markAt } = prepared[next++ % prepared.length] ?? missing();
    kind.sent++;
    connections.send(template, toUnique(bytes, markAt), (outcome) => {
      count(kind, outcome, performance.now() - dueMs, job.inTimeMs);
      if (outcome.reason !== "" && failures.length === 0) failures.push(outcome.reason);
      onEnd();
    });
  }

  const readCpuSeconds = () => (job.pid === undefined ? 0 : readProcess(job.pid).cpuSeconds);
  const cpuSecondsBefore = readCpuSeconds();
  const lagMs = phase.perSecond === undefined ? await sendClosed(phase, sendNext) : await sendOpen(phase, sendNext);
  const cpuSeconds = readCpuSeconds() - cpuSecondsBefore;
  return { name: phase.name, seconds: phase.seconds, cpuSeconds, kinds, lagMs: phase.isRamp ? 0 : lagMs };
}

type SendNext = (dueMs: number, onEnd: () => void) => void;

/** @returns the longest time between a request's due time and its sending. */
function sendOpen({ seconds, perSecond = 0 }: LoadPhase, sendNext: SendNext): Promise<number> {
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
async function sendClosed({ seconds, connections = 1 }: LoadPhase, sendNext: SendNext): Promise<number> {
  let isRunning = true;
  const sendAgain = () => {
    if (isRunning) sendNext(performance.now(), sendAgain);
  };
  for (let count = 0; count < connections; count++) sendAgain();
  await sleep(seconds * 1_000);
  isRunning = false;
  return 0;
}

function toUnique(bytes: Buffer, markAt: number): Buffer {
  if (markAt === -1) return bytes;
  const unique = Buffer.from(bytes);
  unique.write(String(nextUnique++), markAt, "latin1");
  return unique;
}

function createKindReport(): KindReport {
  return { sent: 0, good: 0, late: 0, rejected: 0, limited: 0, failed: 0, latenciesMs: [] };
}

function count(report: KindReport, { kind }: RequestOutcome, latencyMs: number, inTimeMs: number): void {
  if (kind !== "served") return void report[kind]++;
  report.latenciesMs.push(latencyMs);
  if (latencyMs <= inTimeMs) report.good++;
  else report.late++;
}

function missing(): never {
  throw new Error("The phase has no requests");
}
