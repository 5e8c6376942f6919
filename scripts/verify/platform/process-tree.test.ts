import { spawn } from "node:child_process";
import { once } from "node:events";
import { identifyProcess } from "@tributary/kit/process/process-identity";
import { expect, test } from "vitest";
import { childrenOf, killTree } from "./process-tree.ts";

test("a process is killed together with its children", async () => {
  const text = `for (const n of [1, 2]) require("node:child_process").spawn("sleep", ["600"]); console.log("ready"); setInterval(() => {}, 1e6)`;
  const parent = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  await once(parent.stdout, "data");
  const pid = parent.pid ?? 0;
  const children = childrenOf(pid);
  expect(children).toHaveLength(2);
  const ended = once(parent, "exit");
  killTree(pid);
  expect(await ended).toEqual([null, "SIGKILL"]);
  await expect.poll(() => children.map(identifyProcess)).toEqual([undefined, undefined]);
});

test("an unknown pid has no children", () => {
  expect(childrenOf(2_147_483_646)).toEqual([]);
});
