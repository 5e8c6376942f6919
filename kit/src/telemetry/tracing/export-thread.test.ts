import { expect, onTestFinished, test } from "vitest";
import { startExportThread } from "./export-thread.ts";

const noSpans = [] as const;
/** A thread that has loaded everything, and whose answers are ours. */
const loaded = `import { parentPort } from "node:worker_threads"; parentPort.postMessage({ batchNumber: 0 });`;

test("a module that cannot be loaded is an error at once", async () => {
  await expect(start(`throw new Error("nothing there");`)).rejects.toThrow("nothing there");
});

test("a seventh batch is rejected while the collector does not respond", async () => {
  const thread = await start(`${loaded} parentPort.on("message", () => {});`);
  const first = Array.from({ length: 6 }, () => thread.send(noSpans));
  await expect(thread.send(noSpans)).rejects.toThrow("6 batches");
  await thread.end();
  const outcomes = await Promise.allSettled(first);
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "rejected"));
});

test("a thread that has ended accepts no batch", async () => {
  const thread = await start(`${loaded} parentPort.on("message", () => process.exit(3));`);
  await expect(thread.send(noSpans)).rejects.toThrow("code 3");
  expect(thread.hasEnded()).toBe(true);
  await expect(thread.send(noSpans)).rejects.toThrow("has ended");
});

async function start(code: string) {
  const thread = await startExportThread({
    url: "http://127.0.0.1:9",
    serviceName: "things",
    instanceId: "i-7",
    version: "1.2.3",
    file: toFile(code),
  });
  onTestFinished(() => thread.end());
  return thread;
}

function toFile(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
