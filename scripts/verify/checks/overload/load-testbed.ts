// The processes of a load: the load process on core 1, and the gateways and REST proxies under test on core 0.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type PinnedProcess, receiveMessage, startPinned } from "../../../../bench/testbed/pinned-process.ts";
import { isReady } from "../../platform/part-process.ts";
import type { VerificationRun } from "../../verification.ts";
import { type EndpointKind, toProcessCommand, writeSettings } from "./endpoints.ts";
import type { LoadJob, LoadReport } from "./load-job.ts";
import type { LoadMessage } from "./load-process.ts";

interface ListeningProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** A process under test, with the settings of production. */
export interface TestedProcess extends ListeningProcess {
  readonly kind: EndpointKind;
  readonly adminPort: number;
  /** False once it has exited: it is never restarted. */
  isRunning(): boolean;
}

export interface LoadTestbed {
  /** @param environment additional variables. */
  start(kind: EndpointKind, environment?: Readonly<Record<string, string>>): Promise<TestedProcess>;
  /** Starts empty-handler.ts on core 0, like the processes of `start`. */
  startEmptyHandler(): Promise<ListeningProcess>;
  /**
   * Runs the job. If the load process sent requests late outside ramps (`lagMsMax`), the latencies are void, and the job is repeated.
   * @param measuresLatency false: the job is never repeated, since its latencies are not used.
   * @throws Error if the latencies are void five times.
   */
  run(job: LoadJob, measuresLatency?: boolean): Promise<LoadReport>;
}

/** If requests are sent later than this, the latencies measure the load process instead of the process under test. */
const lagMsMax = 20;
const attemptsMax = 5;
const readyMsMax = 60_000;
const pollMs = 50;

export async function startLoadTestbed({
  onCleanup,
  print,
}: Pick<VerificationRun, "onCleanup" | "print">): Promise<LoadTestbed> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-overload-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const loadProcess = startPinned({
    core: 1,
    command: [join(import.meta.dirname, "load-process.ts")],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onCleanup(() => loadProcess.stop());
  const ready = await receiveMessage<LoadMessage>(loadProcess);
  if (ready.kind !== "ready") throw new Error("The load process does not start");
  const settings = writeSettings(folder, ready.stubPort, (file, text) => writeFileSync(file, text));
  return {
    async start(kind, environment = {}) {
      const port = await pickFreePort();
      const adminPort = await pickFreePort();
      const { command, environment: productionEnvironment } = toProcessCommand(kind, { ...settings, port, adminPort });
      const pinned = startPinned({
        core: 0,
        command,
        environment: { ...productionEnvironment, ...environment },
        stdio: ["ignore", "pipe", "pipe"],
      });
      onCleanup(() => pinned.stop());
      await waitUntilReady(pinned, `http://127.0.0.1:${port}`);
      const isRunning = () => pinned.child.exitCode === null && pinned.child.signalCode === null;
      return { kind, pid: pinned.pid, port, adminPort, isRunning, stop: () => pinned.stop() };
    },
    async startEmptyHandler() {
      const port = await pickFreePort();
      const command = [join(import.meta.dirname, "empty-handler.ts"), String(port)];
      const pinned = startPinned({ core: 0, command, stdio: ["ignore", "pipe", "pipe"] });
      onCleanup(() => pinned.stop());
      await waitUntilReady(pinned, `http://127.0.0.1:${port}`);
      return { pid: pinned.pid, port, stop: () => pinned.stop() };
    },
    async run(job, measuresLatency = true) {
      for (let attempt = 1; ; attempt++) {
        const report = await runOnce(loadProcess, job);
        const lagMs = Math.max(...report.phases.map((phase) => phase.lagMs));
        const isVoid = measuresLatency && lagMs > lagMsMax;
        if (!isVoid) return report;
        const problem = `The load process sent requests up to ${lagMs.toFixed(0)} ms late: the run is void`;
        if (attempt === attemptsMax) throw new Error(problem);
        print(`${problem}, and is repeated.`);
      }
    },
  };
}

/** @throws Error if the process exits before it is ready (`failed` rejects), or is not ready in a minute. */
async function waitUntilReady(pinned: PinnedProcess, url: string): Promise<void> {
  const deadlineMs = performance.now() + readyMsMax;
  while (!(await Promise.race([isReady(url), pinned.failed]))) {
    if (performance.now() > deadlineMs) throw new Error(`The process at ${url} does not become ready`);
    await sleep(pollMs);
  }
}

async function runOnce(loadProcess: PinnedProcess, job: LoadJob): Promise<LoadReport> {
  const nextMessage = receiveMessage<LoadMessage>(loadProcess);
  loadProcess.child.send(job);
  const message = await nextMessage;
  switch (message.kind) {
    case "report":
      return message.report;
    case "problem":
      throw new Error(message.problem);
    case "ready":
      throw new Error("The load process was restarted");
  }
}
