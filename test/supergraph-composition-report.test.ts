import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { composeFromDisk } from "../scripts/start/dev-loop/composition.ts";
import { runCheck } from "../supergraph/check.ts";
import { composeRepository } from "../supergraph/compose.ts";
import { writeStaleFiles } from "../supergraph/composition/generated-files.ts";
import type { Files } from "./supergraph/repository-fixture.ts";
import { sampleFiles, lineOf, withChange, writeFiles, writeRepository } from "./supergraph/repository-fixture.ts";

const users = "services/users/schema.graphql";
const posts = "services/posts/schema.graphql";
const renamedKey = withChange(
  sampleFiles,
  users,
  'type User @key(fields: "id") {\n  id: ID!',
  'type User @key(fields: "userId") {\n  userId: ID!',
);

test("the errors of a renamed key are one group with the changed line, the references to the old key, and a fix", async () => {
  const lines = await report(await commit(sampleFiles), renamedKey);
  expect(lines).toEqual([
    "changed since HEAD: services/users/schema.graphql (@tributary/users-team)",
    `${users}:${lineOf(renamedKey, users, 'fields: "userId"')}:11 (@tributary/users-team) KEY_CHANGED User`,
    '  The key of User changed from "id" to "userId".',
    expect.stringMatching(/^ {2}\d+ errors follow from it: SATISFIABILITY_ERROR\.$/),
    '  Other subgraphs refer to User by "id":',
    `    ${posts}:${lineOf(sampleFiles, posts, "type User")}:11 (@tributary/posts-team)`,
    expect.stringContaining("services/orders/schema.graphql:"),
    expect.stringMatching(
      /^ {2}To fix: keep the old key beside the new one .* @key\(fields: "id"\) @key\(fields: "userId"\)/,
    ),
    expect.stringMatching(/^1 cause, \d+ errors\. All of them in full: npm run check -- --all$/),
  ]);
});

test("npm start compares with the last schemas that composed", async () => {
  const root = writeRepository(sampleFiles);
  const before = await composeFromDisk(root, undefined);
  writeFiles(root, renamedKey);
  const after = await composeFromDisk(root, before.schemas);
  expect(after.ok ? [] : after.report.slice(0, 2)).toEqual([
    "changed since the last save that composed: services/users/schema.graphql (@tributary/users-team)",
    expect.stringMatching(/^services\/users\/schema.graphql:\d+:11 \(@tributary\/users-team\) KEY_CHANGED User$/),
  ]);
});

test("without git the changed file is found by comparing with the committed supergraph", async () => {
  const root = writeRepository(sampleFiles);
  await generate(root);
  const lines = await report(root, renamedKey);
  expect(lines.slice(0, 3)).toEqual([
    "changed since the committed supergraph: services/users/schema.graphql (@tributary/users-team)",
    expect.stringMatching(/^services\/users\/.* KEY_CHANGED User$/),
    '  The key of User changed from "id" to "userId".',
  ]);
});

test("an error that Apollo reports in another subgraph is printed with the changed file first", async () => {
  const external = withChange(
    sampleFiles,
    posts,
    "  posts(first",
    '  email: String @external\n  greeting: String @requires(fields: "email")\n  posts(first',
  );
  const lines = await report(await commit(external), withChange(external, users, "  email: String\n  nick", "  nick"));
  expect(lines.slice(0, 4)).toEqual([
    "changed since HEAD: services/users/schema.graphql (@tributary/users-team)",
    `${users}:${lineOf(sampleFiles, users, "email: String")}:3 (@tributary/users-team) as of HEAD EXTERNAL_MISSING_ON_BASE User.email`,
    "  User.email was removed.",
    expect.stringContaining('Field "User.email" is marked @external on all the subgraphs'),
  ]);
  expect(lines).toContain(`  see also ${posts}:${lineOf(external, posts, "email: String")}:3 (@tributary/posts-team)`);
});

test("in a conflict between two subgraphs the changed file is named first", async () => {
  const shared = withChange(
    withChange(sampleFiles, posts, "  posts(first", "  nickname: String @shareable\n  posts(first"),
    users,
    "nickname: String",
    "nickname: String @shareable",
  );
  const edit = (file: string) => withChange(shared, file, "nickname: String @shareable", "nickname: Int @shareable");
  const root = await commit(shared);
  for (const file of [users, posts]) {
    const lines = await report(root, edit(file));
    expect(lines[1]).toMatch(new RegExp(`^${file}:\\d+:3 .* FIELD_TYPE_MISMATCH User.nickname$`));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}To fix: give it the same type in each subgraph/));
    writeFiles(root, shared);
  }
});

test("errors are grouped by cause, five groups are printed, and --all prints every error", async () => {
  const names = ["One", "Two", "Three", "Four", "Five", "Six", "Seven"];
  const types = names.map((name) => `type ${name} { a: Int b: Int }`).join("\n");
  const fields = names.map((name) => `  a${name}: ${name}`).join("\n");
  const extended = withChange(sampleFiles, posts, "  title: String!", `  title: String!\n${fields}`);
  const committed: Files = { ...extended, [posts]: `${extended[posts]}${types}\n` };
  const broken = { ...committed, [users]: `${committed[users]}${types}\n` };
  const root = await commit(committed);
  const lines = await report(root, broken);
  expect(lines.filter((line) => line.includes("INVALID_FIELD_SHARING"))).toHaveLength(5);
  expect(lines.slice(1).filter((line) => line.startsWith(users))).toHaveLength(5);
  expect(lines.at(-1)).toBe("and 2 more causes. 7 causes, 14 errors. All of them in full: npm run check -- --all");
  const all = await report(root, broken, "--all");
  expect(all.filter((line) => line.includes("INVALID_FIELD_SHARING"))).toHaveLength(14);
});

test("the summary does not mention --all if every error is printed in full", async () => {
  const broken = withChange(
    withChange(sampleFiles, posts, "title: String!", "title String!"),
    users,
    "enum Role",
    "enum",
  );
  const lines = await report(await commit(sampleFiles), broken);
  expect(lines.filter((line) => line.endsWith(" SYNTAX_ERROR"))).toHaveLength(2);
  expect(lines.at(-1)).toBe("2 causes, 2 errors.");
});

async function report(root: string, edited: Files, ...args: readonly string[]): Promise<readonly string[]> {
  writeFiles(root, edited);
  let text = "";
  expect(await runCheck({ root, args, today: "2026-06-01", print: (more) => (text += more) })).toBe(1);
  return text.trimEnd().split("\n");
}

async function commit(files: Files): Promise<string> {
  const root = writeRepository(files);
  await generate(root);
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", "Begin"],
  ])
    execFileSync("git", ["-C", root, ...args], { stdio: "pipe" });
  return root;
}

async function generate(root: string): Promise<void> {
  const generation = await composeRepository(root, { partial: false });
  if (!generation.ok) throw new Error(JSON.stringify(generation.errors));
  writeStaleFiles(root, generation.files);
}
