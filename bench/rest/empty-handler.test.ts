import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../run/pinned-process.ts";
import { type RestContenderName, restContenders } from "./contenders.ts";
import { keptPath } from "./workloads.ts";

test("the empty handler sends the header fields and the length of a cache hit", async () => {
  const [originPort] = (await once(start([join(import.meta.dirname, "origin.ts")]), "message")) as [number];
  const [hit, floor] = [await readHead("ours", originPort), await readHead("floor", originPort)];
  expect(hit).toMatchObject({ "cache-status": expect.stringContaining("hit") });
  expect(Object.keys(floor).sort()).toEqual(Object.keys(hit).sort());
  expect(floor["content-length"]).toBe(hit["content-length"]);
  const lengthsOf = (head: Readonly<Record<string, string>>) => Object.values(head).join("").length;
  expect(Math.abs(lengthsOf(floor) - lengthsOf(hit))).toBeLessThan(8);
});

/** Of the third response: the first fills the cache. */
async function readHead(name: RestContenderName, originPort: number): Promise<Readonly<Record<string, string>>> {
  const contender = restContenders.find((one) => one.name === name);
  const port = await findFreePort();
  const { command = [], environment = {} } = contender?.start({ port, originPort, folder: "", databaseUrl: "" }) ?? {};
  start(command, environment);
  const get = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${keptPath}`, { headers: { "Accept-Encoding": "identity" } });
    await response.arrayBuffer();
    return response;
  };
  await expect.poll(async () => (await get().catch(() => undefined))?.status, { timeout: 20_000 }).toBe(200);
  await get();
  return Object.fromEntries((await get()).headers);
}

function start(command: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
  const env = { PATH: process.env["PATH"], ...environment };
  const child = spawn(process.execPath, command, { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
