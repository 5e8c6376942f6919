// The queue of jobs that wait for any planner worker (operations to plan, and large introspections), bounded in length and in waiting time.
import type { PlannerJob } from "./worker-messages.ts";

export interface JobQueue {
  /**
   * Settles the job as `not-started` if the queue is full or closed, or if no worker takes the job within `waitMsMax()`.
   * @param cost the length of the operation in characters; Infinity for introspection. Lower numbers are taken first.
   */
  add(job: PlannerJob, cost: number): void;
  /**
   * Removes and returns the job with the lowest `cost`; of several, the oldest. Undefined if the queue is empty. Planning time grows with the
   * length of the operation (a second for the longest), so this order keeps long operations from delaying short operations.
   */
  take(): PlannerJob | undefined;
  /** The number of queued jobs. */
  count(): number;
  /** Settles all queued jobs, and those added later, as `not-started`. */
  close(): void;
}

export interface JobQueueOptions {
  readonly queuedJobsMax: number;
  /** Asked for each job that is added. */
  waitMsMax(): number;
  /** Called for each job that is taken, with the time that it waited. */
  onTaken(waitedMs: number): void;
}

interface QueuedJob {
  readonly timer: NodeJS.Timeout;
  readonly cost: number;
  readonly queuedAtMs: number;
}

export function createJobQueue({ queuedJobsMax, waitMsMax, onTaken }: JobQueueOptions): JobQueue {
  /** In order of arrival. */
  const queue = new Map<PlannerJob, QueuedJob>();
  let isClosed = false;

  function remove(job: PlannerJob): PlannerJob {
    clearTimeout(queue.get(job)?.timer);
    queue.delete(job);
    return job;
  }

  return {
    add(job, cost) {
      if (isClosed) return job.settle({ kind: "not-started", reason: "closed" });
      if (queue.size >= queuedJobsMax) return job.settle({ kind: "not-started", reason: "queue-full" });
      const giveUp = () => remove(job).settle({ kind: "not-started", reason: "waited-too-long" });
      queue.set(job, { timer: setTimeout(giveUp, waitMsMax()), cost, queuedAtMs: performance.now() });
    },
    take() {
      let nextJob: PlannerJob | undefined;
      let next: QueuedJob | undefined;
      for (const [job, queued] of queue) {
        const isCheaper = next === undefined || queued.cost < next.cost;
        if (!isCheaper) continue;
        nextJob = job;
        next = queued;
      }
      if (nextJob === undefined || next === undefined) return undefined;
      onTaken(performance.now() - next.queuedAtMs);
      return remove(nextJob);
    },
    count: () => queue.size,
    close() {
      isClosed = true;
      for (const job of queue.keys()) remove(job).settle({ kind: "not-started", reason: "closed" });
    },
  };
}
