import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Starvation, type StarvationOptions, watchStarvation } from "./starvation.ts";

let starvation: Starvation;
afterEach(() => starvation.close());

test.each([
  { mainThread: 0.33, process: 0.4, isStarved: true },
  { mainThread: 0.5, process: 0.5, isStarved: true },
  { mainThread: 0.95, process: 1, isStarved: false },
  // One core and two compression threads, which also take the core from the main thread.
  { mainThread: 0.35, process: 0.98, isStarved: false },
  // A planner thread on the second core.
  { mainThread: 0.35, process: 1.35, cores: 2, isStarved: true },
])("with these shares of a core: $mainThread, $process in all, the process is starved: $isStarved", (shares) => {
  const { pass } = start({ cores: shares.cores ?? 1 });
  pass(100, shares);
  expect(starvation.isStarved()).toBe(shares.isStarved);
});

test("a pause of the process is starvation, and each window replaces the one before", () => {
  const { pass } = start();
  pass(60, { mainThread: 1, process: 1 });
  pass(3_000, { mainThread: 0, process: 0 });
  expect(starvation.isStarved()).toBe(true);
  pass(50, { mainThread: 1, process: 1 });
  expect(starvation.isStarved()).toBe(true);
  pass(50, { mainThread: 1, process: 1 });
  expect(starvation.isStarved()).toBe(false);
});

test("a process that its own quota of CPU time stops is not starved", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cgroup-"));
  const file = join(folder, "cpu.stat");
  let throttled = 7;
  const write = () => writeFileSync(file, `nr_periods 90\nnr_throttled ${throttled}\nthrottled_time 1\n`);
  write();
  const { pass } = start({ cpuStatFiles: [join(folder, "absent"), file] });
  pass(100, { mainThread: 0.3, process: 0.3 });
  expect(starvation.isStarved()).toBe(true);
  await expect
    .poll(() => {
      throttled++;
      write();
      return starvation.isStarved();
    })
    .toBe(false);
  await expect.poll(() => starvation.isStarved()).toBe(true);
  rmSync(folder, { recursive: true });
});

interface Shares {
  readonly mainThread: number;
  readonly process: number;
}

/** `pass` lets time pass in which the process uses these shares of a core. */
function start(o: StarvationOptions = {}) {
  let nowMs = 0;
  let mainThreadMs = 0;
  let processMs = 0;
  const clock = { nowMs: () => nowMs, mainThreadMs: () => mainThreadMs, processMs: () => processMs };
  starvation = watchStarvation({ clock, cores: 1, cpuStatFiles: [], ...o });
  return {
    pass(ms: number, shares: Shares): void {
      nowMs += ms;
      mainThreadMs += ms * shares.mainThread;
      processMs += ms * shares.process;
    },
  };
}
