import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const thread = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { parentPort } from "node:worker_threads";
  for (let recent = [], i = 0; i < 3_000_000; i++) recent[i % 200_000] = { i };
  const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  parentPort.postMessage(space_size);`;

const program = `
  import { Worker } from "node:worker_threads";
  import { runMain } from "./main.ts";
  await runMain(async () => {
    const options = { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 3 } };
    new Worker(${JSON.stringify(thread)}, options).on("message", (bytes) => console.log(bytes));
  });`;

test("V8's flag for the young generation of the main thread leaves threads the limits of their own", () => {
  const flags = ["--max-semi-space-size=16", "--input-type=module", "--eval", program];
  const bytes = Number(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" }));
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(8_000_000);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a process that has not started yet, as process 1 of a container too", async (signal, code) => {
  const start =
    'import { runMain } from "./main.ts"; await runMain(() => new Promise(() => console.log(setInterval(() => {}, 1_000))));';
  const child = spawn(process.execPath, ["--input-type=module", "--eval", start], { cwd: import.meta.dirname });
  await once(child.stdout, "data");
  child.kill(signal);
  // A process without a listener for the signal ends by it: code null. As process 1, it would ignore it.
  expect(await once(child, "exit")).toEqual([code, null]);
});
