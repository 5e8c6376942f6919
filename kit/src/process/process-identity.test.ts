import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { identifyProcess, isRunning } from "./process-identity.ts";

test("a process is identified while it runs", async () => {
  const child = spawn("sleep", ["600"]);
  const identity = identifyProcess(child.pid ?? 0);
  expect(identity && isRunning(identity)).toBe(true);
  child.kill();
  await once(child, "exit");
  expect(identity && isRunning(identity)).toBe(false);
});

test("the same pid with another start time is another process", () => {
  const self = identifyProcess(process.pid);
  expect(self && isRunning({ ...self, startedAt: `${self.startedAt}1` })).toBe(false);
});

test("an unused pid has no identity", () => {
  expect(identifyProcess(2 ** 22 + 1)).toBe(undefined);
});
