// The planner pool: worker threads that run Apollo's query planner, because planning one operation can take seconds.
//
// main thread:   planner-pool -> supergraph-planner (the API of one supergraph), job-queue, worker-slot -> planner-worker
// worker thread: worker-entry -> task-runner -> ../rewrite/query-planner
// Both sides exchange the types of worker-messages.
import type { GatewayObserver } from "../../observations.ts";
import { createJobQueue } from "./job-queue.ts";
import { startPlannerWorker } from "./planner-worker.ts";
import { createSupergraphPlanner, type RunTask, type SupergraphPlanner, toError } from "./supergraph-planner.ts";
import type { IntrospectTask, PlannerJob, PlanTask, Task, TaskOutcome } from "./worker-messages.ts";
import { createWorkerSlot, type WorkerSlot } from "./worker-slot.ts";

export interface PlannerPool {
  /** Loads the supergraph in all workers. @throws Error if one of them rejects it; it is then dropped by all. */
  load(supergraphSdl: string): Promise<SupergraphPlanner>;
  /** The number of operations that wait for a worker. */
  countWaiting(): number;
  /** Terminates the workers. Pending tasks fail. */
  close(): Promise<void>;
}

export interface PlannerPoolOptions {
  /** The number of worker threads. Each has a query planner for every supergraph in use. */
  readonly workers: number;
  /** A worker that takes longer to plan an operation is terminated, and the operation is rejected. */
  readonly planTimeoutMs: number;
  readonly observe: GatewayObserver;
  /** The entry module of the worker threads; tests have another one. */
  readonly workerFile?: URL;
  /** The greatest number of queued operations; the operations that workers are planning do not count. */
  readonly waitingMax?: number;
  /** How long an operation may be queued. */
  readonly waitMsMax?: number;
  readonly loadTimeoutMs?: number;
  /** The query planner of a large supergraph takes 100 MB. Planning that needs more than this limit does not end. */
  readonly workerHeapMbMax?: number;
}

/** How long a worker takes to start on a busy machine. Operations that wait for it are not rejected during that time. */
const workerStartMsMax = 2_000;

const defaultWorkerFile = new URL("worker-entry.ts", import.meta.url);

export function createPlannerPool(o: PlannerPoolOptions): PlannerPool {
  const { waitingMax = 1_000, waitMsMax = 2 * o.planTimeoutMs + workerStartMsMax, loadTimeoutMs = 60_000 } = o;
  const { workerFile: file = defaultWorkerFile, workerHeapMbMax: heapMbMax = 512 } = o;
  /** The SDL of each supergraph in use, by id. A new worker loads all of them. */
  const supergraphs = new Map<number, string>();
  const onTaken = (waitedMs: number) => o.observe({ kind: "plan-started", waitedMs });
  const queue = createJobQueue({ jobsMax: waitingMax, waitMsMax, onTaken });
  let lastId = 0;

  const slots = Array.from({ length: o.workers }, () =>
    createWorkerSlot({
      start: (onLost) => startPlannerWorker({ file, heapMbMax, onLost, onLogEntry: o.observe }),
      listStartJobs,
      takeOperation: () => queue.take(),
      onReplaced: ({ reason, cause }) => o.observe({ kind: "planner-replaced", reason, cause }),
    }),
  );

  function listStartJobs(): PlannerJob[] {
    const loads = [...supergraphs].map(([id, supergraphSdl]): Task => ({ kind: "load", id, supergraphSdl }));
    return [{ kind: "start" } as const, ...loads].map((task) => ({ task, timeoutMs: loadTimeoutMs, settle: () => {} }));
  }

  /** Loads once more after a worker died: only a second death is blamed on the supergraph. */
  async function load(supergraphSdl: string): Promise<SupergraphPlanner> {
    const first = await loadOnce(supergraphSdl);
    const loaded = hasDied(first) ? await loadOnce(supergraphSdl) : first;
    if ("kind" in loaded) throw toError(loaded);
    return loaded;
  }

  async function loadOnce(supergraphSdl: string): Promise<SupergraphPlanner | TaskOutcome> {
    const id = ++lastId;
    const task: Task = { kind: "load", id, supergraphSdl };
    const outcomes = await Promise.all(
      slots.map(async (slot) => {
        const outcome = await runSetupTask(slot, task, loadTimeoutMs);
        // Not before one worker has loaded it: a supergraph that kills workers must not become a start job.
        if (outcome.kind === "loaded") supergraphs.set(id, supergraphSdl);
        return outcome;
      }),
    );
    const failure = outcomes.find(({ kind }) => kind !== "loaded");
    const [loaded] = outcomes;
    if (failure || loaded?.kind !== "loaded") {
      release(id);
      return failure ?? { kind: "not-started", reason: "closed" };
    }
    const runTask: RunTask = (task) => runInAnyWorker({ ...task, id });
    return createSupergraphPlanner({ loaded, runTask, release: () => release(id), observe: o.observe });
  }

  function release(id: number): void {
    supergraphs.delete(id);
    for (const slot of slots) void runSetupTask(slot, { kind: "drop", id }, loadTimeoutMs);
  }

  /** Runs the task once more after its worker died: only a second death is blamed on the operation. */
  async function runInAnyWorker(task: PlanTask | IntrospectTask): Promise<TaskOutcome> {
    const outcome = await enqueue(task);
    return hasDied(outcome) ? enqueue(task) : outcome;
  }

  function enqueue(task: PlanTask | IntrospectTask): Promise<TaskOutcome> {
    return new Promise((settle) => {
      queue.add({ task, timeoutMs: o.planTimeoutMs, settle }, lengthOf(task));
      for (const slot of slots) slot.notify();
    });
  }

  return {
    load,
    countWaiting: queue.count,
    async close() {
      queue.close();
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}

/** The queue gives out the shortest operation first, and introspection after all operations. */
function lengthOf(task: PlanTask | IntrospectTask): number {
  return task.kind === "plan" ? task.operationText.length : Infinity;
}

function hasDied(outcome: SupergraphPlanner | TaskOutcome): boolean {
  return "kind" in outcome && outcome.kind === "worker-lost" && outcome.reason === "died";
}

/** Gives up after twice the timeout: a slot whose workers fail to start never runs the job. */
function runSetupTask(slot: WorkerSlot, task: Task, timeoutMs: number): Promise<TaskOutcome> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(resolve, 2 * timeoutMs, { kind: "not-started", reason: "waited-too-long" });
    slot.addSetupJob({
      task,
      timeoutMs,
      settle(outcome) {
        clearTimeout(giveUp);
        resolve(outcome);
      },
    });
  });
}
