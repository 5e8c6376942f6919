import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { publishedFiles } from "../scripts/start/parts.ts";
import { createChangeHandler } from "../scripts/start/dev-loop/apply-changes.ts";
import { composeRepository } from "../supergraph/compose.ts";
import { writeStaleFiles } from "../supergraph/composition/generated-files.ts";
import type { Files } from "./supergraph/repository-fixture.ts";
import { sampleFiles, lineOf, withChange, writeFiles, writeRepository } from "./supergraph/repository-fixture.ts";

const users = "services/users/schema.graphql";
const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
const withoutEmail = withChange(sampleFiles, users, "  email: String\n  nick", "  nick");

test("a saved change that breaks clients of main is reported once, and so is its reversal", async () => {
  const { save } = await start(sampleFiles, "main");
  expect(await save(withChange(sampleFiles, users, "  name: String!\n", "  name: String!\n  age: Int\n"))).toEqual([]);
  expect(await save(withoutEmail)).toEqual([
    "this change breaks clients of main; it runs here, but npm run check rejects it:",
    `  BREAKING ${users}:${lineOf(sampleFiles, users, "email: String")}:3 (@tributary/users-team) as of main FIELD_REMOVED User.email`,
    "    Field 'email' was removed from object type 'User'",
    expect.stringMatching(/^ {4}Instead: keep the field, mark it @deprecated/),
    "  npm run check prints the entry for supergraph/accepted-changes.yaml that would accept it",
  ]);
  expect(await save(withChange(withoutEmail, users, '"Private."', '"Public."'))).toEqual([]);
  expect(await save(sampleFiles)).toEqual(["no change breaks clients of main any more"]);
  expect(await save(sampleFiles)).toEqual([]);
});

test("a change whose line moves is not reported again", async () => {
  const { save } = await start(sampleFiles, "main");
  const changed = withChange(sampleFiles, users, "createdAt: DateTime!", "createdAt: String!");
  expect((await save(changed)).join("\n")).toContain("FIELD_TYPE_CHANGED User.createdAt");
  expect(await save(withChange(changed, users, "type Query {", "# More.\ntype Query {"))).toEqual([]);
});

test("a new set of breaking changes is reported again, with three of the changes", async () => {
  const { save } = await start(sampleFiles, "main");
  await save(withoutEmail);
  const withoutNickname = withChange(withoutEmail, users, '  nickname: String @deprecated(reason: "Use name.")\n', "");
  const lines = await save(
    withChange(withoutNickname, users, "type Query {", "type Query {\n  me: User\n}\ntype Old {"),
  );
  expect(lines.filter((line) => line.includes("BREAKING"))).toHaveLength(3);
  expect(lines.at(-2)).toBe("  and 1 more: npm run check");
});

test("an accepted change is not reported", async () => {
  const { save } = await start(sampleFiles, "main");
  const entry = `- change: FIELD_REMOVED User.email
  owner: "@tributary/users-team"
  reason: Unused.
  until: 2999-12-31
`;
  expect(await save({ ...withoutEmail, "supergraph/accepted-changes.yaml": entry })).toEqual([]);
  const invalid = { ...withoutEmail, "supergraph/accepted-changes.yaml": entry.replace("until", "till") };
  expect(await save(invalid)).toContain(
    "  supergraph/accepted-changes.yaml:4: unknown key till. The keys are change, owner, reason, until.",
  );
});

test("a base without routes.json does not stop the dev loop", async () => {
  const { save, git } = await start(sampleFiles, "main");
  git("rm", "-q", "--cached", "supergraph/routes.json");
  git(...identity, "commit", "-q", "-m", "Remove the routes");
  git("branch", "-f", "main");
  expect(await save(withoutEmail)).toEqual([
    "cannot compare with main: main has supergraph/api.graphql, but not supergraph/routes.json.",
  ]);
});

test("without a main branch the comparison is with the last commit, and without git there is none", async () => {
  const onOtherBranch = await start(sampleFiles, "trunk");
  expect((await onOtherBranch.save(withoutEmail))[0]).toContain("this change breaks clients of HEAD");
  const withoutGit = await start(sampleFiles, undefined);
  expect(await withoutGit.save(withoutEmail)).toEqual([]);
});

/** A change handler for a committed repository, with no process running. `save` returns the lines about breaking changes. */
async function start(files: Files, branch: string | undefined) {
  const root = writeRepository(files);
  const dataDir = join(root, ".data");
  mkdirSync(join(publishedFiles(dataDir).supergraph, ".."), { recursive: true });
  const generation = await composeRepository(root, { partial: false });
  if (!generation.ok) throw new Error(JSON.stringify(generation.errors));
  writeStaleFiles(root, generation.files);
  const git = (...args: readonly string[]) => void execFileSync("git", ["-C", root, ...args], { stdio: "pipe" });
  const commands = [
    ["init", "-q", "-b", branch ?? ""],
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", "Begin"],
  ];
  // On main the check compares with origin/main or the last commit, so the edits are made on a branch.
  if (branch === "main") commands.push(["switch", "-q", "-c", "feature"]);
  if (branch !== undefined) for (const args of commands) execFileSync("git", ["-C", root, ...args], { stdio: "pipe" });
  let lines: string[] = [];
  const applyChanges = createChangeHandler({
    root,
    dataDir,
    parts: new Map(),
    migrate: async () => {},
    print: (_, line) => void lines.push(line),
    gatewaySwapMs: 1,
  });
  return {
    git,
    async save(edited: Files) {
      writeFiles(root, edited);
      lines = [];
      await applyChanges([users]);
      return lines.filter((line) => !line.startsWith("published a new supergraph"));
    },
  };
}
