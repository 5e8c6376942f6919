import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { identifyProcess } from "@tributary/kit/process/process-identity";
import { findRunningIssuer, takeRunFile } from "./run-file.ts";

const endedProcess = { pid: 2 ** 22 + 1, startedAt: "1" };

test("only one runs on a folder, until it lets go", () => {
  const folder = newFolder();
  const first = takeRunFile(folder);
  expect(() => takeRunFile(folder)).toThrow(`runs already on this data folder (process ${process.pid}`);
  first.release();
  takeRunFile(folder).release();
  expect(existsSync(join(folder, "run.json"))).toBe(false);
});

test("what a killed supervisor left is ended; a process that only has its pid is not", async () => {
  const folder = newFolder();
  const [ours, others] = [sleeper(), sleeper()];
  const parts = [
    { name: "users", ...identifyProcess(ours.pid!) },
    { name: "posts", pid: others.pid, startedAt: "long ago" },
    { name: "orders", ...endedProcess },
  ];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  const run = takeRunFile(folder);
  expect(await run.endLeftovers()).toEqual(["users"]);
  expect(identifyProcess(ours.pid!)).toBe(undefined);
  expect(identifyProcess(others.pid!)).not.toBe(undefined);
  run.release();
});

test("leftovers are known until they are ended, even when the one that ends them is killed", () => {
  const folder = newFolder();
  const parts = [{ name: "users", ...identifyProcess(sleeper().pid!) }];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  takeRunFile(folder);
  expect(partsOf(folder)).toEqual(parts);
});

test("processes are noted while they run", () => {
  const folder = newFolder();
  const run = takeRunFile(folder);
  const child = sleeper();
  run.add("users", child.pid!);
  expect(partsOf(folder)).toEqual([{ name: "users", ...identifyProcess(child.pid!) }]);
  run.remove(child.pid!);
  expect(partsOf(folder)).toEqual([]);
});

test("the issuer of a running start is found by its folder, and forgotten when it ends or is killed", () => {
  const folder = newFolder();
  const issuerUrl = "http://127.0.0.1:5020";
  const run = takeRunFile(folder, { issuerUrl });
  run.add("users", process.pid);
  expect(findRunningIssuer(folder)).toBe(issuerUrl);
  run.release();
  expect(findRunningIssuer(folder)).toBe(undefined);
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts: [], issuerUrl }));
  expect(findRunningIssuer(folder)).toBe(undefined);
});

test("a broken file is no obstacle", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "run.json"), "{");
  takeRunFile(folder).release();
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
