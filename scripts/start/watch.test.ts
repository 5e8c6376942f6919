import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchFolders } from "./watch.ts";

test("a saved file is told, however an editor saves it, in new folders too", async () => {
  const { folder, saved } = setUp();
  writeFileSync(join(folder, "a.ts"), "1");
  await expect.poll(saved).toContain("a.ts");
  writeFileSync(join(folder, "aside.txt"), "2");
  renameSync(join(folder, "aside.txt"), join(folder, "renamed.ts"));
  await expect.poll(saved).toContain("renamed.ts");
  mkdirSync(join(folder, "new/deep"), { recursive: true });
  writeFileSync(join(folder, "new/deep/b.graphql"), "3");
  await expect.poll(saved).toContain("new/deep/b.graphql");
  writeFileSync(join(folder, "new/deep/c.sql"), "4");
  await expect.poll(saved).toContain("new/deep/c.sql");
});

test("tests, editors' own files and packages are not told", async () => {
  const { folder, saved } = setUp();
  mkdirSync(join(folder, "node_modules"));
  for (const name of [".a.ts.swp", "a.ts~", ".#a.ts", "4913", "a.test.ts", "node_modules/a.ts", "notes.txt"])
    writeFileSync(join(folder, name), "1");
  writeFileSync(join(folder, "last.ts"), "1");
  await expect.poll(saved).toContain("last.ts");
  expect(new Set(saved())).toEqual(new Set(["last.ts"]));
});

test("a folder that goes and one that never was are no errors", async () => {
  const { folder, saved, more } = setUp();
  more(join(folder, "never"));
  mkdirSync(join(folder, "gone"));
  writeFileSync(join(folder, "gone/a.ts"), "1");
  await expect.poll(saved).toContain("gone/a.ts");
  rmSync(join(folder, "gone"), { recursive: true });
  writeFileSync(join(folder, "b.ts"), "1");
  await expect.poll(saved).toContain("b.ts");
});

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "tributary-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const saved: string[] = [];
  const more = (path: string) => {
    const watcher = watchFolders([path], (file) => saved.push(relative(folder, file)));
    onTestFinished(() => watcher.close());
  };
  more(folder);
  return { folder, saved: () => saved, more };
}
