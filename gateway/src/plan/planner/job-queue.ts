// Stage 3 of 5: how to answer? Operations that wait for a thread. They do not wait for ever, and not all of them may.
import type { Job } from "./tasks.ts";

export interface JobQueue {
  /** Settles the job as not taken when there is no room, or when nobody takes it in time. */
  add(job: Job): void;
  /** The next one that fits. */
  take(): Job | undefined;
  /** Settles all that wait. */
  close(): void;
}

export function createJobQueue({ jobsMax, waitMsMax }: { jobsMax: number; waitMsMax: number }): JobQueue {
  const waiting = new Map<Job, NodeJS.Timeout>();
  let closed = false;

  function remove(job: Job): Job {
    clearTimeout(waiting.get(job));
    waiting.delete(job);
    return job;
  }

  return {
    add(job) {
      if (closed) return job.settle({ kind: "not-taken", reason: "closed" });
      if (waiting.size >= jobsMax) return job.settle({ kind: "not-taken", reason: "queue-full" });
      const giveUp = () => remove(job).settle({ kind: "not-taken", reason: "waited-too-long" });
      waiting.set(job, setTimeout(giveUp, waitMsMax));
    },
    take() {
      for (const job of waiting.keys()) return remove(job);
      return undefined;
    },
    close() {
      closed = true;
      for (const job of waiting.keys()) remove(job).settle({ kind: "not-taken", reason: "closed" });
    },
  };
}
