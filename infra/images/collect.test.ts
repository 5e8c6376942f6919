import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "collect-"));
});
afterEach(() => rmSync(root, { recursive: true }));

test("an image has the licences and notices of its packages, whatever their extension, and no other documents", () => {
  const licences = ["LICENSE", "LICENSE.md", "license.md", "licence.markdown", "NOTICE.md", "COPYING.md"];
  const unused = ["README.md", "CHANGELOG.markdown", "docs/api.md", "index.d.ts", "index.js.map"];
  for (const file of [...licences, ...unused, "index.js"]) write(`installed/node_modules/json/${file}`);
  collect('import { parse } from "json";');
  const isCopied = (file: string) => existsSync(join(root, "app/node_modules/json", file));
  expect([...licences, "index.js"].filter((file) => !isCopied(file))).toEqual([]);
  expect(unused.filter(isCopied)).toEqual([]);
});

test("a worker's file that does not exist fails the build, like an import", () => {
  expect(() => collect('new Worker(new URL("./worker.ts", import.meta.url));')).toThrow("worker.ts");
});

/** Collects the packages of a process in `app`, as an image build does. */
function collect(source: string): void {
  write("installed/node_modules/json/package.json", "{}");
  write("app/main.ts", source);
  const program = join(import.meta.dirname, "collect.ts");
  execFileSync(process.execPath, [program, "main.ts", join(root, "installed")], {
    cwd: join(root, "app"),
    stdio: "pipe",
  });
}

function write(path: string, text = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
