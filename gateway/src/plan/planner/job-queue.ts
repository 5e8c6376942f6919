// The queue of operations that wait for a planner worker, bounded in length and in waiting time.
import type { PlannerJob } from "./worker-messages.ts";

export interface JobQueue {
  /** Settles the job as `not-started` if the queue is full, or if no worker takes it within `waitMsMax`. */
  add(job: PlannerJob, operationCharacters: number): void;
  /**
   * Takes the shortest operation; of equally short ones, the oldest. Planning time grows with length, so a flood of operations of the
   * greatest length, which take a second each, does not delay short ones.
   */
  take(): PlannerJob | undefined;
  /** The number of queued jobs. */
  count(): number;
  /** Settles all queued jobs as `not-started`. */
  close(): void;
}

export interface JobQueueOptions {
  readonly jobsMax: number;
  readonly waitMsMax: number;
  /** Called for each job that is taken, with the time that it waited. */
  onTaken(waitedMs: number): void;
}

interface QueuedJob {
  readonly timer: NodeJS.Timeout;
  readonly operationCharacters: number;
  readonly queuedAtMs: number;
}

export function createJobQueue({ jobsMax, waitMsMax, onTaken }: JobQueueOptions): JobQueue {
  /** In order of arrival. */
  const queue = new Map<PlannerJob, QueuedJob>();
  let isClosed = false;

  function remove(job: PlannerJob): PlannerJob {
    clearTimeout(queue.get(job)?.timer);
    queue.delete(job);
    return job;
  }

  return {
    add(job, operationCharacters) {
      if (isClosed) return job.settle({ kind: "not-started", reason: "closed" });
      if (queue.size >= jobsMax) return job.settle({ kind: "not-started", reason: "queue-full" });
      const giveUp = () => remove(job).settle({ kind: "not-started", reason: "waited-too-long" });
      queue.set(job, { timer: setTimeout(giveUp, waitMsMax), operationCharacters, queuedAtMs: performance.now() });
    },
    take() {
      let shortest: PlannerJob | undefined;
      let charactersMin = Infinity;
      let queuedAtMs = 0;
      for (const [job, queued] of queue) {
        if (shortest !== undefined && queued.operationCharacters >= charactersMin) continue;
        shortest = job;
        charactersMin = queued.operationCharacters;
        ({ queuedAtMs } = queued);
      }
      if (shortest === undefined) return undefined;
      onTaken(performance.now() - queuedAtMs);
      return remove(shortest);
    },
    count: () => queue.size,
    close() {
      isClosed = true;
      for (const job of queue.keys()) remove(job).settle({ kind: "not-started", reason: "closed" });
    },
  };
}
