import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { partNames } from "../parts.ts";
import { planChanges } from "./change-plan.ts";
import { watchFolders } from "./watch.ts";

test("a saved file is reported, however an editor saves it, also in new folders", async () => {
  const { folder, saved } = setUp();
  writeFileSync(join(folder, "a.ts"), "1");
  await expect.poll(saved).toContain("a.ts");
  writeFileSync(join(folder, "temporary.txt"), "2");
  renameSync(join(folder, "temporary.txt"), join(folder, "renamed.ts"));
  await expect.poll(saved).toContain("renamed.ts");
  mkdirSync(join(folder, "new/deep"), { recursive: true });
  writeFileSync(join(folder, "new/deep/b.graphql"), "3");
  await expect.poll(saved).toContain("new/deep/b.graphql");
  writeFileSync(join(folder, "new/deep/c.sql"), "4");
  await expect.poll(saved).toContain("new/deep/c.sql");
});

test("tests, editors' temporary files and packages are not reported", async () => {
  const { folder, saved } = setUp();
  mkdirSync(join(folder, "node_modules"));
  for (const name of [".a.ts.swp", "a.ts~", ".#a.ts", "4913", "a.test.ts", "node_modules/a.ts", "notes.txt"])
    writeFileSync(join(folder, name), "1");
  writeFileSync(join(folder, "last.ts"), "1");
  await expect.poll(saved).toContain("last.ts");
  expect(new Set(saved())).toEqual(new Set(["last.ts"]));
});

test("a deleted folder and a missing folder are no errors", async () => {
  const { folder, saved, alsoWatch } = setUp();
  alsoWatch(join(folder, "missing"));
  mkdirSync(join(folder, "deleted"));
  writeFileSync(join(folder, "deleted/a.ts"), "1");
  await expect.poll(saved).toContain("deleted/a.ts");
  rmSync(join(folder, "deleted"), { recursive: true });
  writeFileSync(join(folder, "b.ts"), "1");
  await expect.poll(saved).toContain("b.ts");
});

test("a folder that is deleted and created again, as git checkout does, is watched", async () => {
  const { folder, saved } = setUp();
  mkdirSync(join(folder, "branch"));
  writeFileSync(join(folder, "branch/a.ts"), "1");
  await expect.poll(saved).toContain("branch/a.ts");
  rmSync(join(folder, "branch"), { recursive: true });
  mkdirSync(join(folder, "branch"));
  writeFileSync(join(folder, "branch/b.ts"), "1");
  await expect.poll(saved).toContain("branch/b.ts");
  writeFileSync(join(folder, "branch/c.ts"), "1");
  await expect.poll(saved).toContain("branch/c.ts");
});

test.each([
  ["services/users/src/store.ts", { code: ["users"] }],
  ["gateway/src/engine/plan/planner.ts", { code: ["gateway"] }],
  ["infra/issuer/src/app.ts", { code: ["issuer"] }],
  ["kit/src/process/log.ts", { code: [...partNames] }],
  ["services/orders/schema.graphql", { schemas: ["orders"] }],
  ["services/posts/src/rest/routes.ts", { code: ["posts"], routes: ["posts"] }],
  ["services/posts/migrations/0002-more.sql", { code: ["posts"], migrations: ["posts"] }],
  ["services/posts/test/endpoints.ts", {}],
])("%s leads to %j", (path, expected) => {
  expect(plain([path])).toEqual({ schemas: [], routes: [], migrations: [], code: [], ...expected });
});

function plain(paths: readonly string[]) {
  const { schemas, routes, migrations, code } = planChanges(paths);
  return {
    schemas: [...schemas],
    routes: [...routes],
    migrations: [...migrations],
    code: partNames.filter((name) => code.has(name)),
  };
}

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "tributary-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const saved: string[] = [];
  const alsoWatch = (path: string) => {
    const watcher = watchFolders([path], (file) => saved.push(relative(folder, file)));
    onTestFinished(() => watcher.close());
  };
  alsoWatch(folder);
  return { folder, saved: () => saved, alsoWatch };
}
