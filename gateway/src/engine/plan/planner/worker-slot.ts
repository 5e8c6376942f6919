// One slot of the planner pool: it holds a running worker, gives it jobs one by one, and replaces the worker when it is lost. A worker without jobs
// is ended; a setup job, or a queued job that no running worker takes, starts another. See planner-pool.ts for the kinds of jobs.
import type { PlannerWorker } from "./planner-worker.ts";
import type { PlannerJob, WorkerLost } from "./worker-messages.ts";

export interface WorkerSlot {
  /** Adds a setup job (load, warm or drop a supergraph) for this slot's worker. Setup jobs run before queued jobs. */
  addSetupJob(job: PlannerJob): void;
  /** To be called when the queue has a new job. A worker that was ended is not started. */
  notify(): void;
  /** Starts another worker if the last one was ended. @returns whether it did. */
  wakeIfAsleep(): boolean;
  /** Terminates the worker. Its running job settles as `worker-lost`, setup jobs that wait settle as `not-started`. */
  close(): Promise<void>;
}

export interface WorkerSlotOptions {
  /** Starts a worker. May throw. `onLost` is called at most once, and never after the worker's `end`. @param isAwaited whether a job waits for it. */
  readonly start: (onLost: (lost: WorkerLost) => void, isAwaited: boolean) => PlannerWorker;
  /** The jobs that a new worker runs first: they load and warm the supergraphs in use. */
  readonly listStartJobs: () => readonly PlannerJob[];
  /** Takes the next job from the queue that all slots share. */
  readonly takeQueuedJob: () => PlannerJob | undefined;
  /** Called when the worker is lost, before the next one starts. */
  readonly onReplaced: (lost: WorkerLost) => void;
  /** A worker that has had no job for this time is ended. */
  readonly idleMsMax: number;
}

const restartDelayMsMin = 100;
const restartDelayMsMax = 10_000;

/** Workers that are lost in a row (no setup job or queued job completes in between) are replaced after 0, 100, 200, 400 ms, …, up to 10 s. */
function restartDelayMsAfter(earlierLosses: number): number {
  if (earlierLosses === 0) return 0;
  return Math.min(restartDelayMsMin * 2 ** (earlierLosses - 1), restartDelayMsMax);
}

/** If the system permits no further thread at the moment, the worker is lost at once, and is started again later. */
function startOrLose(
  start: WorkerSlotOptions["start"],
  onLost: (lost: WorkerLost) => void,
  isAwaited: boolean,
): PlannerWorker | undefined {
  try {
    return start(onLost, isAwaited);
  } catch (cause) {
    onLost({ kind: "worker-lost", reason: "died", cause: cause as Error, cpuMs: 0 });
    return undefined;
  }
}

/** Unreferenced, so that it does not keep the process alive. If jobs wait for the worker, their own timers do. */
function createTimer() {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => clearTimeout(timer);
  return {
    clear,
    set(run: () => void, ms: number) {
      clear();
      timer = setTimeout(run, ms).unref();
    },
  };
}

/** Starts the first worker at once. */
export function createWorkerSlot(o: WorkerSlotOptions): WorkerSlot {
  let worker: PlannerWorker | undefined;
  let startJobs: PlannerJob[] = [];
  const setupJobs: PlannerJob[] = [];
  let isWorking = false;
  let isClosed = false;
  /** The worker was ended because it was idle. */
  let isAsleep = false;
  let lossesInARow = 0;
  /** Replaces a lost worker, or ends an idle one. */
  const timer = createTimer();

  function start(isAwaited = false): void {
    startJobs = [...o.listStartJobs()];
    worker = startOrLose(o.start, replace, isAwaited);
    if (worker) timer.set(sleep, o.idleMsMax);
    void work();
  }

  function sleep(): void {
    isAsleep = true;
    void worker?.end();
    worker = undefined;
  }

  function wakeIfAsleep(): boolean {
    if (!isAsleep || isClosed) return false;
    isAsleep = false;
    start(true);
    return true;
  }

  function replace(lost: WorkerLost): void {
    worker = undefined;
    o.onReplaced(lost);
    timer.set(start, restartDelayMsAfter(lossesInARow++));
  }

  /** Removes and returns the next job. Undefined if there is no job, or no worker to run it. */
  function takeJob(): { worker: PlannerWorker; job: PlannerJob; isStartJob: boolean } | undefined {
    if (!worker) return undefined;
    const startJob = startJobs.shift();
    const job = startJob ?? setupJobs.shift() ?? o.takeQueuedJob();
    return job && { worker, job, isStartJob: startJob !== undefined };
  }

  /** Runs jobs until there is none or the worker is lost; for the next worker, `start` calls it again. Does nothing if it is running already. */
  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let next = takeJob(); next; next = takeJob()) {
      const { job } = next;
      timer.clear();
      const outcome = await next.worker.run(job.task, job.cpuMsMax);
      // A start job does not reset the delay, because each new worker may be lost in a later start job.
      if (!next.isStartJob && outcome.kind !== "worker-lost") lossesInARow = 0;
      job.settle(outcome);
      if (worker === next.worker) timer.set(sleep, o.idleMsMax);
    }
    isWorking = false;
  }

  start();
  return {
    addSetupJob(job) {
      if (isClosed) return job.settle({ kind: "not-started", reason: "closed" });
      // Nothing is loaded.
      if (isAsleep && job.task.kind === "drop") return job.settle({ kind: "done", cpuMs: 0 });
      setupJobs.push(job);
      if (!wakeIfAsleep()) void work();
    },
    notify: () => void work(),
    wakeIfAsleep,
    async close() {
      isClosed = true;
      timer.clear();
      const lastWorker = worker;
      worker = undefined;
      for (const job of setupJobs.splice(0)) job.settle({ kind: "not-started", reason: "closed" });
      await lastWorker?.end();
    },
  };
}
