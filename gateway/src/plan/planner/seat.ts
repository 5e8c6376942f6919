// Stage 3 of 5: how to answer? A seat that always has a thread: one that is lost is replaced, and learns what it has to know.
import type { Job, ThreadLost } from "./tasks.ts";
import type { Thread } from "./thread.ts";

export interface Seat {
  /** For this seat's thread, before any operation. */
  add(chore: Job): void;
  /** There may be an operation to take. */
  wake(): void;
  close(): Promise<void>;
}

export interface SeatOptions {
  readonly start: (onLost: (lost: ThreadLost) => void) => Thread;
  /** What a new thread does first. */
  readonly listFirstJobs: () => readonly Job[];
  /** The next operation to plan, of those that any seat may take. */
  readonly takeOperation: () => Job | undefined;
  readonly onReplaced: (lost: ThreadLost) => void;
}

/** One that fails again and again is started again after 0, 100, 200, 400 ms, and so on up to this. */
const restMsMax = 10_000;

export function createSeat(o: SeatOptions): Seat {
  let thread: Thread | undefined;
  let firstJobs: Job[] = [];
  let chores: Job[] = [];
  let working = false;
  let closed = false;
  let lossesInARow = 0;
  let resting: NodeJS.Timeout | undefined;

  function open(): void {
    firstJobs = [...o.listFirstJobs()];
    thread = o.start(replace);
    void work();
  }

  function replace(lost: ThreadLost): void {
    thread = undefined;
    o.onReplaced(lost);
    const restMs = lossesInARow === 0 ? 0 : Math.min(100 * 2 ** (lossesInARow - 1), restMsMax);
    lossesInARow++;
    // What waits for a thread has a timer of its own.
    resting = setTimeout(open, restMs).unref();
  }

  /** Undefined when there is nothing to do, or nobody to do it. */
  function nextTurn(): { thread: Thread; job: Job; isFirstJob: boolean } | undefined {
    if (!thread) return undefined;
    const first = firstJobs.shift();
    const job = first ?? chores.shift() ?? o.takeOperation();
    return job && { thread, job, isFirstJob: first !== undefined };
  }

  async function work(): Promise<void> {
    if (working) return;
    working = true;
    for (let turn = nextTurn(); turn; turn = nextTurn()) {
      const { job } = turn;
      const outcome = await turn.thread.run(job.task, job.timeoutMs);
      // A thread that dies of what it has to know at first gets its rest too.
      if (!turn.isFirstJob && outcome.kind !== "thread-lost") lossesInARow = 0;
      job.settle(outcome);
    }
    working = false;
  }

  open();
  return {
    add(chore) {
      if (closed) return chore.settle({ kind: "not-taken", reason: "closed" });
      chores.push(chore);
      void work();
    },
    wake: () => void work(),
    async close() {
      closed = true;
      clearTimeout(resting);
      const last = thread;
      thread = undefined;
      for (const chore of chores) chore.settle({ kind: "not-taken", reason: "closed" });
      chores = [];
      await last?.end();
    },
  };
}
