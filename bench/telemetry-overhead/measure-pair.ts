import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SubgraphUrls } from "../graph/compose.ts";
import { startPostsDatabase } from "../rest/posts-database.ts";
import { receiveMessage, startIpcProcess } from "../run/ipc-process.ts";
import { findFreePort, type PinnedProcess, startPinned } from "../run/pinned-process.ts";
import type { PairJob, PairLoadMessage, ProcessReport } from "./pair-load.ts";
import type { Subject, SubjectContext } from "./subjects.ts";

/** Two processes of one subject: the first without telemetry, the second with it or, as a control, without it too. */
export interface Pair {
  readonly subject: Subject;
  readonly kind: "telemetry" | "control";
}

/** The reports of both processes, measured at the same time. */
export interface PairRound {
  readonly baseline: ProcessReport;
  readonly compared: ProcessReport;
}

/** Everything that the subjects and the load need besides core 0; it runs for the whole benchmark. */
export interface PairTestbed {
  readonly subjectContext: Omit<SubjectContext, "port" | "folder">;
  readonly collectorUrl: string;
  load(job: PairJob): Promise<readonly ProcessReport[]>;
  stop(): Promise<void>;
}

export interface PairTimes {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const connections = 16;
const readyMsMax = 30_000;
const readyPollMs = 50;
const exitMsMax = 50;

export async function startPairTestbed(): Promise<PairTestbed> {
  const database = await startPostsDatabase();
  const origin = startIpcProcess("rest/origin.ts");
  const subgraphs = startIpcProcess("subgraphs/subgraph-process.ts");
  const collector = startIpcProcess("telemetry-overhead/collector.ts");
  const load = startIpcProcess("telemetry-overhead/pair-load.ts");
  const [originPort, subgraphUrls, collectorUrl] = await Promise.all([
    receiveMessage<number>(origin),
    receiveMessage<SubgraphUrls>(subgraphs),
    receiveMessage<string>(collector),
    receiveMessage(load),
  ]);
  return {
    subjectContext: { originPort, subgraphUrls, databaseUrl: database.url },
    collectorUrl,
    async load(job) {
      load.child.send(job);
      const message = await receiveMessage<PairLoadMessage>(load);
      if ("problem" in message) throw new Error(message.problem);
      return message.reports;
    },
    async stop() {
      const processes = [origin, subgraphs, collector, load];
      await Promise.all([...processes.map((process) => process.stop()), database.stop()]);
    },
  };
}

/**
 * Starts new processes of both on core 0, warms them up and measures them at the same time, so that anything that slows
 * the machine down affects both.
 * @param swapped starts the compared process first.
 * @throws Error if a process exits, is not ready within 30 s, or sends a wrong response.
 */
export async function measurePair(
  { subject, kind }: Pair,
  testbed: PairTestbed,
  { swapped, ...times }: PairTimes & { readonly swapped: boolean },
): Promise<PairRound> {
  const folder = mkdtempSync(join(tmpdir(), "bench-telemetry-overhead-"));
  const context = { ...testbed.subjectContext, folder };
  const telemetry = kind === "telemetry" ? toTelemetryEnvironment(testbed.collectorUrl) : {};
  const started: StartedProcess[] = [];
  const start = async (environment: Readonly<Record<string, string>>) => {
    const process = await startProcess(subject, context, environment);
    started.push(process);
    return process;
  };
  try {
    const first = await start(swapped ? telemetry : {});
    const second = await start(swapped ? {} : telemetry);
    const pair = swapped ? [second, first] : [first, second];
    const processes = pair.map(({ port, process }) => ({ port, pid: process.pid }));
    await Promise.all(processes.map(({ port }) => waitUntilReady(port, subject)));
    const { path, body } = subject;
    const [baseline, compared] = await testbed.load({ path, body, processes, connections, ...times });
    if (!baseline || !compared) throw new Error("The load process must report on two processes.");
    return { baseline, compared };
  } catch (error) {
    // If a process exited, `failed` rejects with its output, which explains more than a broken connection.
    await Promise.race([...started.map(({ process }) => process.failed), sleep(exitMsMax)]);
    throw error;
  } finally {
    await Promise.all(started.map(({ process }) => process.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface StartedProcess {
  readonly port: number;
  readonly process: PinnedProcess;
}

async function startProcess(
  subject: Subject,
  context: Omit<SubjectContext, "port">,
  telemetry: Readonly<Record<string, string>>,
): Promise<StartedProcess> {
  const port = await findFreePort();
  const { command, environment } = subject.start({ ...context, port });
  const process = startPinned({
    core: 0,
    command,
    environment: { ...environment, ...telemetry },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { port, process };
}

/** Turns on metrics, and traces of one request in a hundred, the default rate once a collector is configured. */
function toTelemetryEnvironment(collectorUrl: string): Readonly<Record<string, string>> {
  return { ADMIN_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl, OTEL_TRACES_SAMPLER_ARG: "0.01" };
}

/** Resolves after two successive responses with status 200 and without errors: the first may fill a cache. */
async function waitUntilReady(port: number, { path, body }: Subject): Promise<void> {
  const headers = { Accept: "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  const deadline = Date.now() + readyMsMax;
  let lastText = "nothing";
  for (let successes = 0; successes < 2; await sleep(readyPollMs)) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => undefined);
    const text = (await response?.text()) ?? lastText;
    successes = response?.status === 200 && !text.includes('"errors"') ? successes + 1 : 0;
    lastText = text;
    if (Date.now() > deadline) {
      throw new Error(`${path} is not ready after ${readyMsMax} ms. Last response: ${lastText.slice(0, 200)}`);
    }
  }
}
