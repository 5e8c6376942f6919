import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEventLoopQueue } from "./event-loop-queue.ts";

test("each caller resolves in a separate iteration, in the order of the calls, with other work in between", async () => {
  const takeTurn = createEventLoopQueue();
  const steps: string[] = [];
  const run = async (name: string) => {
    await takeTurn();
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
