import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PlannerWorker } from "./planner-worker.ts";
import type { TaskOutcome, WorkerLost } from "./worker-messages.ts";
import { createWorkerSlot } from "./worker-slot.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a worker whose thread cannot be started is started later, also the replacement of a lost one, and gets the jobs", async () => {
  let canStart = false;
  let lose: (lost: WorkerLost) => void = () => {};
  const lost: unknown[] = [];
  const worker: PlannerWorker = {
    run: () => Promise.resolve({ kind: "done", cpuMs: 1 }),
    end: () => Promise.resolve(),
  };
  const slot = createWorkerSlot({
    start(onLost) {
      if (!canStart) throw new Error("EAGAIN");
      lose = onLost;
      return worker;
    },
    listStartJobs: () => [],
    takeQueuedJob: () => undefined,
    onReplaced: ({ cause }) => lost.push(cause.message),
    idleMsMax: 1_000,
  });
  const run = () =>
    new Promise<TaskOutcome>((settle) => slot.addSetupJob({ task: { kind: "drop", id: 1 }, cpuMsMax: 1, settle }));

  const first = run();
  await vi.advanceTimersByTimeAsync(500);
  expect(lost.length).toBeGreaterThan(2);
  expect(new Set(lost)).toEqual(new Set(["EAGAIN"]));
  canStart = true;
  await vi.advanceTimersByTimeAsync(500);
  expect(await first).toMatchObject({ kind: "done" });

  canStart = false;
  lose({ kind: "worker-lost", reason: "died", cause: new Error("lost"), cpuMs: 0 });
  const second = run();
  await vi.advanceTimersByTimeAsync(500);
  canStart = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await second).toMatchObject({ kind: "done" });

  // It is ended because it is idle.
  await vi.advanceTimersByTimeAsync(1_000);
  canStart = false;
  expect(slot.wakeIfAsleep()).toBe(true);
  const third = run();
  canStart = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await third).toMatchObject({ kind: "done" });
  await slot.close();
});

test("a worker without a job is ended, although it is notified of jobs that other workers take", async () => {
  const end = vi.fn(() => Promise.resolve());
  const slot = createWorkerSlot({
    start: () => ({ run: () => Promise.resolve({ kind: "done", cpuMs: 1 }), end }),
    listStartJobs: () => [],
    takeQueuedJob: () => undefined,
    onReplaced: () => {},
    idleMsMax: 1_000,
  });
  for (let round = 1; round <= 2; round++) {
    for (let passedMs = 0; passedMs < 1_000; passedMs += 100) {
      expect(end).toHaveBeenCalledTimes(round - 1);
      slot.notify();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(end).toHaveBeenCalledTimes(round);
    expect(slot.wakeIfAsleep()).toBe(true);
  }
  await slot.close();
});
