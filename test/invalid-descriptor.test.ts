// What the commands print if the descriptor of a service is invalid: its problems, as every other command, and no stack.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { root } from "./kubernetes/folders.ts";
import { cloneRepository, removeClone } from "./start/clone.ts";

const clone = cloneRepository();
const contract = mkdtempSync(join(tmpdir(), "tributary contract "));
afterAll(() => {
  removeClone(clone);
  rmSync(contract, { recursive: true });
});
beforeEach(() => {
  cpSync(join(root, "services/users/service.json"), join(clone, "services/users/service.json"));
  cpSync(join(root, "examples/reviews-python/contract"), contract, { recursive: true });
});

const addContract = ["scripts/new-service.ts", "reviews", "--external", "--contract", contract, "--force"];

test.each([
  ["scripts/start.ts"],
  ["scripts/token.ts", "ada"],
  ["scripts/status/status.ts"],
  ["scripts/check/ledger.ts", "--prometheus", "http://127.0.0.1:1"],
  ["scripts/remove-service.ts", "posts"],
  addContract,
])("of this repository: %s", (...command) => {
  writeFileSync(join(clone, "services/users/service.json"), '{ "name": "users",');
  const { status, stdout, stderr } = run(command);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^services\/users\/service\.json:1:1 CONTRACT_INVALID\n {2}is not valid JSON: .*\n$/);
});

test("of a contract that new:service copies: that it is no JSON", () => {
  writeFileSync(join(contract, "service.json"), '{ "name": "reviews",');
  const { status, stderr } = run(addContract);
  expect(status).toBe(1);
  expect(stderr).toMatch(/service\.json:1:1 CONTRACT_INVALID\n {2}is not valid JSON: .*\n$/);
  expect(existsSync(join(clone, "services/reviews"))).toBe(false);
});

test("of a contract that new:service copies: that it has no address", () => {
  const descriptor = { name: "reviews", description: "Owns reviews.", team: "@a/b", port: 4005 };
  writeFileSync(join(contract, "service.json"), JSON.stringify(descriptor));
  const { status, stderr } = run(addContract);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `${contract}/service.json has no external, with the url of the service: docs/add-a-service.md.\n`,
  });
});

test("of a contract that new:service copies: that its port is taken", () => {
  const descriptor = { name: "reviews", description: "Owns reviews.", team: "@a/b", port: 4001 };
  writeFileSync(join(contract, "service.json"), JSON.stringify({ ...descriptor, external: { url: "http://r:4001" } }));
  const { status, stderr } = run(addContract);
  expect(status).toBe(1);
  expect(stderr).toContain("have the same port 4001. Change the port of one of them.");
  expect(stderr).not.toContain("    at ");
  expect(existsSync(join(clone, "services/reviews"))).toBe(false);
});

function run(command: readonly string[]) {
  return spawnSync(process.execPath, command, { cwd: clone, encoding: "utf8" });
}
