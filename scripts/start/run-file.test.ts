import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { identifyProcess } from "@tributary/kit/process/process-identity";
import { findRunningIssuer, acquireRunFile } from "./run-file.ts";

const endedProcess = { pid: 2 ** 22 + 1, startedAt: "1" };

test("processes that a killed supervisor left are ended; another process with a reused pid is not", async () => {
  const folder = newFolder();
  const [leftover, unrelated] = [sleeper(), sleeper()];
  const parts = [
    { name: "users", ...identifyProcess(leftover.pid!) },
    { name: "posts", pid: unrelated.pid, startedAt: "long ago" },
    { name: "orders", ...endedProcess },
  ];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  const run = acquireRunFile(folder);
  expect(await run.endLeftovers()).toEqual(["users"]);
  expect(identifyProcess(leftover.pid!)).toBe(undefined);
  expect(identifyProcess(unrelated.pid!)).not.toBe(undefined);
  run.release();
});

test("leftover processes remain recorded until they are ended, also if the start that ends them is killed", () => {
  const folder = newFolder();
  const parts = [{ name: "users", ...identifyProcess(sleeper().pid!) }];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  acquireRunFile(folder);
  expect(partsOf(folder)).toEqual(parts);
});

test("the issuer's URL is found by the data folder while its start runs, not after it ends or is killed", () => {
  const folder = newFolder();
  const issuerUrl = "http://127.0.0.1:5020";
  const run = acquireRunFile(folder, { issuerUrl });
  run.add("users", process.pid);
  expect(findRunningIssuer(folder)).toBe(issuerUrl);
  run.release();
  expect(findRunningIssuer(folder)).toBe(undefined);
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts: [], issuerUrl }));
  expect(findRunningIssuer(folder)).toBe(undefined);
});

test("a run file that is not JSON does not prevent a start", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "run.json"), "{");
  acquireRunFile(folder).release();
});

function partsOf(folder: string): unknown {
  return (JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as { parts: unknown }).parts;
}

function sleeper(): ChildProcess {
  const child = spawn("sleep", ["600"], { detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-run-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
