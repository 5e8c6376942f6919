// Stage 3 of 5: how to answer? Operations that wait for a thread. They do not wait for ever, and not all of them may.
import type { Job } from "./tasks.ts";

export interface JobQueue {
  /** Settles the job as not taken when there is no room, or when nobody takes it in time. */
  add(job: Job, operationCharacters: number): void;
  /**
   * The shortest operation, of equals the first to come. Length foretells how long planning takes: so a flood of the longest operations
   * that are allowed, a second each, does not hold up everybody's.
   */
  take(): Job | undefined;
  /** How many wait now. */
  count(): number;
  /** Settles all that wait. */
  close(): void;
}

export interface JobQueueOptions {
  readonly jobsMax: number;
  readonly waitMsMax: number;
  /** A job is taken that has waited so long. */
  onTaken(waitedMs: number): void;
}

interface Waiting {
  readonly timer: NodeJS.Timeout;
  readonly operationCharacters: number;
  readonly sinceMs: number;
}

export function createJobQueue({ jobsMax, waitMsMax, onTaken }: JobQueueOptions): JobQueue {
  const waiting = new Map<Job, Waiting>();
  let closed = false;

  function remove(job: Job): Job {
    clearTimeout(waiting.get(job)?.timer);
    waiting.delete(job);
    return job;
  }

  return {
    add(job, operationCharacters) {
      if (closed) return job.settle({ kind: "not-taken", reason: "closed" });
      if (waiting.size >= jobsMax) return job.settle({ kind: "not-taken", reason: "queue-full" });
      const giveUp = () => remove(job).settle({ kind: "not-taken", reason: "waited-too-long" });
      waiting.set(job, { timer: setTimeout(giveUp, waitMsMax), operationCharacters, sinceMs: performance.now() });
    },
    take() {
      let shortest: Job | undefined;
      let charactersMin = Infinity;
      let sinceMs = 0;
      for (const [job, one] of waiting) {
        if (shortest !== undefined && one.operationCharacters >= charactersMin) continue;
        shortest = job;
        charactersMin = one.operationCharacters;
        ({ sinceMs } = one);
      }
      if (shortest === undefined) return undefined;
      onTaken(performance.now() - sinceMs);
      return remove(shortest);
    },
    count: () => waiting.size,
    close() {
      closed = true;
      for (const job of waiting.keys()) remove(job).settle({ kind: "not-taken", reason: "closed" });
    },
  };
}
