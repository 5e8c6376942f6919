// The planner pool: worker threads that run Apollo's query planner, because planning one operation can take seconds. One pool per gateway process,
// for all generations.
//
// main thread:   planner-pool -> supergraph-planner (plans operations of one supergraph), job-queue, worker-slot -> planner-worker
// worker thread: worker-entry -> task-runner -> ../rewrite/query-planner
// Both sides exchange the types of worker-messages.
//
// A *task* is one message to a worker, and a *job* is a task with its limit of CPU time and the callback that gets its outcome. Each worker has a
// slot, which runs its jobs one by one, in this order:
//   start jobs   for a worker that has just started: wait until it runs, then load all supergraphs in use and warm their planners
//   setup jobs   for this worker: load, warm or drop one supergraph
//   queued jobs  for any worker: plan one operation, or execute one large introspection
import { UnusableSupergraph } from "../../../errors/unusable-supergraph.ts";
import type { GatewayObserver } from "../../../observations.ts";
import { createJobQueue } from "./job-queue.ts";
import { type PlannerWorker, type PlannerWorkerOptions, startPlannerWorker } from "./planner-worker.ts";
import { createSupergraphPlanner, type RunTask, type SupergraphPlanner, toError } from "./supergraph-planner.ts";
import type { IntrospectTask, LoadTask, PlannerJob, PlanTask, Task, TaskOutcome } from "./worker-messages.ts";
import { createWorkerSlot, type WorkerSlot } from "./worker-slot.ts";

export interface PlannerPool {
  /**
   * Loads the supergraph in all workers. If one of them fails, all drop it.
   * @throws UnusableSupergraph if the supergraph is the cause; any other Error if a later attempt can succeed.
   */
  load(supergraphSdl: string): Promise<SupergraphPlanner>;
  /** The number of operations and large introspections that wait for a worker. */
  countQueuedJobs(): number;
  /** Terminates the workers. Operations that run or wait are rejected: their jobs settle as `worker-lost` or `not-started`. */
  close(): Promise<void>;
}

export interface PlannerPoolOptions {
  /** The number of worker threads, at least 1. Each holds a query planner for every supergraph in use. */
  readonly workers: number;
  /**
   * A worker that uses more CPU time for one operation or introspection is terminated and replaced, and the request is rejected with
   * OPERATION_TOO_COMPLEX.
   */
  readonly planTimeoutMs: number;
  readonly observe: GatewayObserver;
  /** The entry module of the worker threads. Tests replace it. */
  readonly workerFile?: URL;
  /** The greatest number of queued jobs, 1,000 by default. Running jobs do not count. */
  readonly queuedJobsMax?: number;
  /**
   * How long a job may be queued, besides the time that the last load of a supergraph took: the job may wait for a worker that has just started.
   * Default: twice `planTimeoutMs`, plus 2 s for the start of the thread.
   */
  readonly waitMsMax?: number;
  /** The CPU time of each start job and setup job, 60 s by default. */
  readonly loadTimeoutMs?: number;
  /**
   * The heap limit of each worker, 512 MB by default: the query planner of a large supergraph takes 100 MB. A worker that needs more is terminated
   * and replaced, and its task is not retried: a request is rejected with OPERATION_TOO_COMPLEX, the load of a supergraph fails.
   */
  readonly workerHeapMbMax?: number;
  /**
   * A worker without jobs for this time is ended, a minute by default, since it takes a third of the process's memory. The next job that no
   * running worker takes starts one, and waits until that has loaded the supergraphs in use.
   */
  readonly idleMsMax?: number;
}

/** How long a worker takes to start on a busy machine. */
const workerStartMsMax = 2_000;

const defaultWorkerFile = new URL("worker-entry.ts", import.meta.url);

/** What a new worker runs for each supergraph in use, by id. */
type StartTasks = Map<number, readonly Task[]>;

type LoadResult =
  | { readonly kind: "loaded"; readonly planner: SupergraphPlanner }
  /** `outcome` is that of the first worker that did not load the supergraph. */
  | { readonly kind: "failed"; readonly outcome: TaskOutcome };

export function createPlannerPool(options: PlannerPoolOptions): PlannerPool {
  const { workers, planTimeoutMs, observe, idleMsMax = 60_000 } = options;
  const { queuedJobsMax = 1_000, waitMsMax = 2 * planTimeoutMs + workerStartMsMax, loadTimeoutMs = 60_000 } = options;
  const startTasks: StartTasks = new Map();
  /** Called for each queued job that a worker takes, also for an introspection. */
  const onTaken = (waitedMs: number) => observe({ kind: "plan-started", waitedMs });
  let lastLoadMs = 0;
  const queue = createJobQueue({ queuedJobsMax, waitMsMax: () => waitMsMax + lastLoadMs, onTaken });
  let lastId = 0;

  const slots = Array.from({ length: workers }, () =>
    createWorkerSlot({
      start: (onLost, isAwaited) => startWorker(options, { onLost, isAwaited, isFirstLoadKnown: startTasks.size > 0 }),
      listStartJobs: () => listStartJobs(startTasks, loadTimeoutMs),
      takeQueuedJob: () => queue.take(),
      onReplaced: ({ reason, cause }) => observe({ kind: "planner-replaced", reason, cause }),
      idleMsMax,
    }),
  );

  /** Retries once if a worker died, because the cause may be outside the supergraph. */
  async function load(supergraphSdl: string): Promise<SupergraphPlanner> {
    const firstResult = await loadOnce(supergraphSdl);
    const mustRetry = firstResult.kind === "failed" && hasWorkerDied(firstResult.outcome);
    const result = mustRetry ? await loadOnce(supergraphSdl) : firstResult;
    if (result.kind === "failed") throw toLoadError(result.outcome);
    return result.planner;
  }

  async function loadOnce(supergraphSdl: string): Promise<LoadResult> {
    const id = ++lastId;
    const task: LoadTask = { kind: "load", id, supergraphSdl, isKnown: false };
    const startedMs = performance.now();
    const outcomes = await Promise.all(
      slots.map((slot) => loadInto(slot, task, { startTasks, cpuMsMax: loadTimeoutMs })),
    );
    const failure = outcomes.find(({ kind }) => kind !== "loaded");
    if (failure) {
      release(id);
      return { kind: "failed", outcome: failure };
    }
    lastLoadMs = performance.now() - startedMs;
    // All workers return the same `loaded`; the first one is used.
    const loaded = outcomes.find((outcome) => outcome.kind === "loaded");
    if (!loaded) throw new Error("A planner pool needs at least one worker.");
    const runTask: RunTask = (task) => runInAnyWorker({ ...task, id });
    const planner = createSupergraphPlanner({ loaded, runTask, release: () => release(id), observe });
    return { kind: "loaded", planner };
  }

  /** Returns at once; the workers drop the supergraph later. A replacement of a worker does not load it any more. */
  function release(id: number): void {
    startTasks.delete(id);
    for (const slot of slots) void runSetupTask(slot, { kind: "drop", id }, loadTimeoutMs);
  }

  /** Retries once if the worker died, because the cause may be outside the operation. */
  async function runInAnyWorker(task: PlanTask | IntrospectTask): Promise<TaskOutcome> {
    const outcome = await enqueue(task);
    return hasWorkerDied(outcome) ? enqueue(task) : outcome;
  }

  function enqueue(task: PlanTask | IntrospectTask): Promise<TaskOutcome> {
    return new Promise((settle) => {
      queue.add({ task, cpuMsMax: planTimeoutMs, settle }, planningCostOf(task));
      for (const slot of slots) slot.notify();
      // No running worker has taken the job: one of those that were ended is started for it.
      if (queue.count() > 0) slots.some((slot) => slot.wakeIfAsleep());
    });
  }

  return {
    load,
    countQueuedJobs: queue.count,
    async close() {
      queue.close();
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}

interface WorkerStart extends Pick<PlannerWorkerOptions, "onLost" | "isFirstLoadKnown"> {
  readonly isAwaited: boolean;
}

/** Called by each slot at once, and when it replaces its worker. */
function startWorker(
  { workerFile: file = defaultWorkerFile, workerHeapMbMax: heapMbMax = 512, observe }: PlannerPoolOptions,
  { isAwaited, ...start }: WorkerStart,
): PlannerWorker {
  const isFirstLoadUrgent = isAwaited || !start.isFirstLoadKnown;
  return startPlannerWorker({ file, heapMbMax, isFirstLoadUrgent, ...start, onLogEntry: observe });
}

/** Resolves before the planner is warmed: meanwhile the main thread builds its schemas. */
async function loadInto(
  slot: WorkerSlot,
  task: LoadTask,
  { startTasks, cpuMsMax }: { readonly startTasks: StartTasks; readonly cpuMsMax: number },
): Promise<TaskOutcome> {
  const { id } = task;
  const outcome = await runSetupTask(slot, task, cpuMsMax);
  if (outcome.kind !== "loaded") return outcome;
  // A task becomes a start task only after a worker has done it: one that ends every worker must not.
  const startTask: Task = { ...task, isKnown: true };
  if (!startTasks.has(id)) startTasks.set(id, [startTask]);
  const warmTask: Task = { kind: "warm", id };
  const settle = ({ kind }: TaskOutcome) => {
    if (kind === "done" && startTasks.has(id)) startTasks.set(id, [startTask, warmTask]);
  };
  slot.addSetupJob({ task: warmTask, cpuMsMax, settle });
  return outcome;
}

/**
 * The outcomes are ignored. If a worker is lost during a start job, its slot replaces it; if it cannot load a supergraph, the plan tasks of that
 * supergraph fail in it.
 */
function listStartJobs(startTasks: StartTasks, cpuMsMax: number): PlannerJob[] {
  const tasks: Task[] = [{ kind: "start" }, ...[...startTasks.values()].flat()];
  return tasks.map((task) => ({ task, cpuMsMax, settle: () => {} }));
}

/** The queue gives out the job with the lowest number first: the shortest operation, and introspection after all operations. */
function planningCostOf(task: PlanTask | IntrospectTask): number {
  return task.kind === "plan" ? task.operationText.length : Infinity;
}

function toLoadError(outcome: TaskOutcome): Error {
  const cause = toError(outcome);
  const isOfSupergraph =
    outcome.kind === "failed" ||
    (outcome.kind === "worker-lost" && (outcome.reason === "deadline" || outcome.reason === "memory"));
  return isOfSupergraph ? new UnusableSupergraph(cause.message, { cause }) : cause;
}

/** False for a worker that was lost for another reason: an instant retry would not help. */
function hasWorkerDied(outcome: TaskOutcome): boolean {
  return outcome.kind === "worker-lost" && outcome.reason === "died";
}

function runSetupTask(slot: WorkerSlot, task: Task, cpuMsMax: number): Promise<TaskOutcome> {
  return new Promise((settle) => slot.addSetupJob({ task, cpuMsMax, settle }));
}
