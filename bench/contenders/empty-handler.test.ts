import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import {
  launch,
  type LaunchedProcess,
  type LaunchOptions,
  receiveMessage,
} from "@tributary/kit/testing/processes/launched-process";
import { expect, onTestFinished, test } from "vitest";
import { cacheablePath } from "../graph/rest-content.ts";
import type { BackendUrls } from "../testbed/backend-process.ts";
import { restServers } from "./rest-servers.ts";

test("the empty handler sends the header fields and the length of a cache hit", async () => {
  const backend = start({ args: [join(import.meta.dirname, "../testbed/backend-process.ts")] });
  const urls = await receiveMessage<BackendUrls>(backend);
  const [hit, empty] = [await readHead("ours", urls), await readHead("empty-handler", urls)];
  expect(hit).toMatchObject({ "cache-status": expect.stringContaining("hit") });
  expect(Object.keys(empty).sort()).toEqual(Object.keys(hit).sort());
  expect(empty["content-length"]).toBe(hit["content-length"]);
  const countChars = (head: Readonly<Record<string, string>>) => Object.values(head).join("").length;
  expect(Math.abs(countChars(empty) - countChars(hit))).toBeLessThan(8);
});

/** The header fields of the third response; the first fills the cache. */
async function readHead(name: string, urls: BackendUrls): Promise<Readonly<Record<string, string>>> {
  const contender = restServers.find((candidate) => candidate.name === name);
  const port = await pickFreePort();
  const context = { ...urls, port, folder: "", databaseUrl: "" };
  if (contender) start(contender.start(context));
  const get = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${cacheablePath}`, {
      headers: { "Accept-Encoding": "identity" },
    });
    await response.arrayBuffer();
    return response;
  };
  await expect.poll(async () => (await get().catch(() => undefined))?.status).toBe(200);
  await get();
  return Object.fromEntries((await get()).headers);
}

function start(options: LaunchOptions): LaunchedProcess {
  const started = launch({ ...options, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  onTestFinished(() => void started.end("SIGKILL"));
  return started;
}
