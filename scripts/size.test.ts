import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const repository = fileURLToPath(new URL("..", import.meta.url));

test("a file that is deleted without a commit, and one with a name that git quotes, count", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tributary-size-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const file of ["scripts/size.ts", "scripts/size/count-lines.ts", "supergraph/changes/git-base.ts"])
    cpSync(join(repository, file), join(root, file));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  write("package.json", '{ "type": "module" }');
  write("kit/src/deleted.ts", "const a = 1;\nconst b = 2;\n");
  write("kit/src/größe.ts", "const c = 3;\n");
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);
  git("init", "-q", "-b", "main");
  git("add", "kit");
  git("-c", "commit.gpgsign=false", "commit", "-q", "-m", "Two files");
  rmSync(join(root, "kit/src/deleted.ts"));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/size.ts"], { cwd: root, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^kit +1 +0\.0 % +-2$/m);

  function write(file: string, text: string): void {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), text);
  }
});
