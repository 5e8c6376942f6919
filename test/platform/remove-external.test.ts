import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { cloneRepository, removeClone } from "../start/clone.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

test("the removal of a contract restores every file, and claims no change of package-lock.json", () => {
  const clone = cloneRepository();
  onTestFinished(() => removeClone(clone));
  for (const path of ["docker-compose.yml", ".github"])
    cpSync(join(repository, path), join(clone, path), { recursive: true });
  writeFileSync(join(clone, ".gitignore"), "node_modules\n.data\n");
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: clone, encoding: "utf8", env: { ...process.env, NODE_V8_COVERAGE: "" } });
  run("git", "init", "--quiet");
  run("git", "add", "--all");
  run("git", "-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "State");
  run(process.execPath, "scripts/new-service.ts", "far-notes", "--external", "--entity", "Note");
  const removed = run(process.execPath, "scripts/remove-service.ts", "far-notes", "--force");
  expect(removed).toMatch(/^Removed services\/far-notes, and updated \d+ generated files\.$/m);
  expect(run("git", "status", "--short")).toBe("");
});
