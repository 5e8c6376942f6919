import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { isPortFree, pickFreePort } from "./free-port.ts";
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

test("a chosen port is free and below those of outgoing connections", async () => {
  const port = await pickFreePort();
  expect(port).toBeGreaterThanOrEqual(20_000);
  expect(port).toBeLessThan(32_768);
  expect(await isPortFree(port)).toBe(true);
});

test("no port is chosen twice, although the first listener is not open yet", async () => {
  const ports = await Promise.all(Array.from({ length: 600 }, () => pickFreePort()));
  expect(new Set(ports).size).toBe(600);
});

test("a port with a listener is not free", async () => {
  const port = await pickFreePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  expect(await isPortFree(port)).toBe(false);
  server.close();
  await once(server, "close");
});
