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
  /** Settles all that wait. */
  close(): void;
}

export function createJobQueue({ jobsMax, waitMsMax }: { jobsMax: number; waitMsMax: number }): JobQueue {
  const waiting = new Map<Job, { readonly timer: NodeJS.Timeout; readonly operationCharacters: number }>();
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
      waiting.set(job, { timer: setTimeout(giveUp, waitMsMax), operationCharacters });
    },
    take() {
      let shortest: Job | undefined;
      let charactersMin = Infinity;
      for (const [job, { operationCharacters }] of waiting) {
        if (operationCharacters >= charactersMin) continue;
        shortest = job;
        charactersMin = operationCharacters;
      }
      return shortest && remove(shortest);
    },
    close() {
      closed = true;
      for (const job of waiting.keys()) remove(job).settle({ kind: "not-taken", reason: "closed" });
    },
  };
}
