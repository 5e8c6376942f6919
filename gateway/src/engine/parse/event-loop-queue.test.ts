import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createEventLoopQueue } from "./event-loop-queue.ts";

function startQueue() {
  const nextIteration = createEventLoopQueue();
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => void vi.restoreAllMocks());
  const steps: { readonly client: string; readonly startedMs: number; readonly endedMs: number }[] = [];
  const step = async (client: string, tookMs: number) => {
    await nextIteration(client);
    const startedMs = performance.now();
    while (performance.now() < startedMs + tookMs);
    steps.push({ client, startedMs, endedMs: performance.now() });
  };
  return { step, steps, timers };
}

test("each caller resolves in a separate iteration, in the order of the calls, with other work in between", async () => {
  const takeTurn = createEventLoopQueue();
  const steps: string[] = [];
  const run = async (name: string, client = "") => {
    await takeTurn(client);
    steps.push(name);
  };
  const callers = [run("a"), run("b")];
  const others = (async () => {
    for (const name of ["other 1", "other 2"]) {
      await nextTurn();
      steps.push(name);
    }
  })();
  await Promise.all([...callers, others]);
  expect(steps).toEqual(["a", "other 1", "b", "other 2"]);
  await run("c");
  expect(steps.at(-1)).toBe("c");
});

test("clients are taken in rotation, each client's calls in their order", async () => {
  const nextIteration = createEventLoopQueue();
  const steps: string[] = [];
  const run = async (client: string, name: string) => {
    await nextIteration(client);
    steps.push(name);
  };
  const attacker = ["a1", "a2", "a3"].map((name) => run("192.0.2.1", name));
  await Promise.all([...attacker, run("192.0.2.2", "b1"), run("192.0.2.2", "b2")]);
  expect(steps).toEqual(["a1", "b1", "a2", "b2", "a3"]);
});

test("after short steps there is no rest", async () => {
  const { step, timers } = startQueue();
  // A busy machine must not make a step long.
  vi.spyOn(performance, "now").mockReturnValue(0);
  await Promise.all([step("a", 0), step("a", 0), step("b", 0)]);
  expect(timers).not.toHaveBeenCalled();
});

test("after a long step the queue rests for as long as it took, at most 50 ms", async () => {
  const { step, steps } = startQueue();
  await Promise.all([step("a", 20), step("b", 80), step("c", 0)]);
  const rests = steps.slice(1).map(({ startedMs }, i) => startedMs - (steps[i]?.endedMs ?? 0));
  // A timer may fire up to 1 ms early.
  expect(rests[0]).toBeGreaterThan(18);
  expect(rests[1]).toBeGreaterThan(48);
});

test("a step that comes during the rest waits for its end", async () => {
  const { step, steps } = startQueue();
  await step("a", 20);
  await step("b", 0);
  expect((steps[1]?.startedMs ?? 0) - (steps[0]?.endedMs ?? 0)).toBeGreaterThan(18);
});
