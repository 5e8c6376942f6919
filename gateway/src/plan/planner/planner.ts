// Stage 3 of 5: how to answer? Planners in threads of their own, because one operation can take them seconds.
import type { Observe } from "../../telemetry/observation-log.ts";
import { createJobQueue } from "./job-queue.ts";
import { type RunTask, createLoadedPlanner, type LoadedPlanner, toError } from "./loaded-planner.ts";
import { createSeat, type Seat } from "./seat.ts";
import type { IntrospectTask, Job, Outcome, PlanTask, Task } from "./tasks.ts";
import { startThread } from "./thread.ts";

export interface Planner {
  /** @throws Error when the supergraph cannot be used; nothing is left behind then. */
  load(supergraphSdl: string): Promise<LoadedPlanner>;
  /** Operations that wait for a thread. */
  countWaiting(): number;
  /** Ends the threads. What is under way fails. */
  close(): Promise<void>;
}

export interface PlannerOptions {
  /** Threads, each with a planner of its own for every supergraph in use. */
  readonly workers: number;
  /** After this a thread that plans is ended, and the operation refused. */
  readonly planTimeoutMs: number;
  readonly observe: Observe;
  /** The thread's entry; another one in tests. */
  readonly threadFile?: URL;
  /** Operations that may wait for a thread, beside those that one is at; and how long. */
  readonly waitingMax?: number;
  readonly waitMsMax?: number;
  readonly loadTimeoutMs?: number;
  /** A planner of a large supergraph lives in 100 MB; what needs more than this is an operation that never ends. */
  readonly threadHeapMbMax?: number;
}

/** What a new thread takes on a busy machine before it plans: an operation that waits for it is not to blame. */
const threadStartMsMax = 2_000;

const ownThreadFile = new URL("planner-worker.ts", import.meta.url);

export function createPlanner(o: PlannerOptions): Planner {
  const { waitingMax = 1_000, waitMsMax = 2 * o.planTimeoutMs + threadStartMsMax, loadTimeoutMs = 60_000 } = o;
  const { threadFile: file = ownThreadFile, threadHeapMbMax: heapMbMax = 512 } = o;
  /** A new thread loads them all. */
  const inUse = new Map<number, string>();
  const onTaken = (waitedMs: number) => o.observe({ kind: "plan-begun", waitedMs });
  const queue = createJobQueue({ jobsMax: waitingMax, waitMsMax, onTaken });
  let lastId = 0;

  const seats = Array.from({ length: o.workers }, () =>
    createSeat({
      start: (onLost) => startThread({ file, heapMbMax, onLost, onSaid: o.observe }),
      listFirstJobs,
      takeOperation: () => queue.take(),
      onReplaced: ({ reason, cause }) => o.observe({ kind: "planner-replaced", reason, cause }),
    }),
  );

  function listFirstJobs(): Job[] {
    const loads = [...inUse].map(([id, supergraphSdl]): Task => ({ kind: "load", id, supergraphSdl }));
    return [{ kind: "start" } as const, ...loads].map((task) => ({ task, timeoutMs: loadTimeoutMs, settle: () => {} }));
  }

  /** A thread that died while it loaded need not have died of that; the second time it has. */
  async function load(supergraphSdl: string): Promise<LoadedPlanner> {
    const first = await loadOnce(supergraphSdl);
    const loaded = isDeath(first) ? await loadOnce(supergraphSdl) : first;
    if ("kind" in loaded) throw toError(loaded);
    return loaded;
  }

  async function loadOnce(supergraphSdl: string): Promise<LoadedPlanner | Outcome> {
    const id = ++lastId;
    const task: Task = { kind: "load", id, supergraphSdl };
    const outcomes = await Promise.all(
      seats.map(async (seat) => {
        const outcome = await askSeat(seat, task, loadTimeoutMs);
        // As soon as one could: a new thread is not given what may be the death of it.
        if (outcome.kind === "loaded") inUse.set(id, supergraphSdl);
        return outcome;
      }),
    );
    const failure = outcomes.find(({ kind }) => kind !== "loaded");
    const [facts] = outcomes;
    if (failure || facts?.kind !== "loaded") {
      release(id);
      return failure ?? { kind: "not-taken", reason: "closed" };
    }
    const ask: RunTask = (task) => askAny({ ...task, id });
    return createLoadedPlanner({ facts, ask, release: () => release(id), observe: o.observe });
  }

  function release(id: number): void {
    inUse.delete(id);
    for (const seat of seats) void askSeat(seat, { kind: "drop", id }, loadTimeoutMs);
  }

  /** The same holds for operations. */
  async function askAny(task: PlanTask | IntrospectTask): Promise<Outcome> {
    const outcome = await enqueue(task);
    return isDeath(outcome) ? enqueue(task) : outcome;
  }

  function enqueue(task: PlanTask | IntrospectTask): Promise<Outcome> {
    return new Promise((settle) => {
      queue.add({ task, timeoutMs: o.planTimeoutMs, settle }, lengthOf(task));
      for (const seat of seats) seat.wake();
    });
  }

  return {
    load,
    countWaiting: queue.count,
    async close() {
      queue.close();
      await Promise.all(seats.map((seat) => seat.close()));
    },
  };
}

/** The shortest operation is planned first; introspection comes after all operations. */
function lengthOf(task: PlanTask | IntrospectTask): number {
  return task.kind === "plan" ? task.operationText.length : Infinity;
}

function isDeath(outcome: LoadedPlanner | Outcome): boolean {
  return "kind" in outcome && outcome.kind === "thread-lost" && outcome.reason === "died";
}

/** A seat whose threads cannot be started takes nothing: that has its end too. */
function askSeat(seat: Seat, task: Task, timeoutMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(resolve, 2 * timeoutMs, { kind: "not-taken", reason: "waited-too-long" });
    seat.add({
      task,
      timeoutMs,
      settle(outcome) {
        clearTimeout(giveUp);
        resolve(outcome);
      },
    });
  });
}
