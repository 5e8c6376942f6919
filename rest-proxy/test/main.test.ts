import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { routes, startStub, openConnection, statusOf } from "./testing.ts";

test("the process serves its table, completes requests in flight on SIGTERM, and exits with 0", async () => {
  const waiting: ServerResponse[] = [];
  const stub = await startStub((request, response) => {
    if (request.url.endsWith("/slow")) waiting.push(response);
    else response.end("{}");
  });
  const { child, output } = run({
    THINGS_URL: stub.url,
    PARTS_URL: stub.url,
    ROUTES_FILE: writeRoutes({ routes }),
    PORT: "0",
  });
  await expect.poll(output).toContain('"listening"');
  const port = Number(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(output())?.[1]);
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/v1/things/1`)).status).toBe(200);
  const idle = await openConnection(port, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  await idle.until(/\{\}/);
  const slow = await openConnection(port, "GET /v1/things/slow HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(() => waiting.length).toBe(1);
  child.kill("SIGTERM");
  await expect.poll(output).toContain('"draining"');
  waiting[0]?.end("{}");
  expect(statusOf(await slow.closed())).toBe(200);
  await idle.closed();
  expect(await exitOf(child)).toBe(0);
});

test("with a service without an address the process does not start, and reports the variable without a stack", async () => {
  const { child, output } = run({ ROUTES_FILE: writeRoutes({ routes }), THINGS_URL: "http://a" });
  expect(await exitOf(child)).toBe(1);
  expect(output()).toContain("PARTS_URL is required");
  expect(output()).not.toContain("    at ");
});

function run(environment: Readonly<Record<string, string>>): { readonly child: ChildProcess; output(): string } {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [main], {
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
    stdio: "pipe",
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, output: () => text };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  return child.exitCode;
}

function writeRoutes(table: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "routes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "routes.json"), JSON.stringify(table));
  return join(folder, "routes.json");
}
