// What `npm run check` and `npm start` report about a schema that does not compose or breaks clients.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createChangeHandler } from "../scripts/start/dev-loop/apply-changes.ts";
import { composeSources } from "../scripts/start/dev-loop/composition.ts";
import { readSubgraphs } from "../supergraph/subgraphs.ts";
import { publishedFiles } from "../scripts/start/parts.ts";
import { createOperationPlanner } from "../scripts/check/operation-planner.ts";
import { runCheck } from "../supergraph/check.ts";
import { commitRepository, git } from "./supergraph/committed-repository.ts";
import type { Files } from "./supergraph/repository-fixture.ts";
import {
  sampleFiles,
  sampleServices,
  lineOf,
  withChange,
  writeFiles,
  writeRepository,
} from "./supergraph/repository-fixture.ts";

const users = "services/users/schema.graphql";
const posts = "services/posts/schema.graphql";
const renamedKey = withChange(
  sampleFiles,
  users,
  'type User @key(fields: "id") {\n  id: ID!',
  'type User @key(fields: "userId") {\n  userId: ID!',
);

test("the errors of a renamed key are one group with the changed line, the references to the old key, and a fix", async () => {
  const lines = await report(await commitRepository(sampleFiles), renamedKey);
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

test("an error about another type is not one of the renamed key, although its key has the same name", async () => {
  const comments = "services/comments/schema.graphql";
  const lines = await report(
    await commitRepository(sampleFiles),
    withChange(renamedKey, comments, "  id: ID!\n  body", "  body"),
  );
  const line = lineOf(sampleFiles, comments, "type Comment");
  expect(lines[1]).toBe(`${comments}:${line}:14 (@tributary/comments-team) KEY_INVALID_FIELDS Comment`);
  expect(lines.join("\n")).not.toContain("KEY_CHANGED");
});

test("npm start compares with the last schemas that composed", async () => {
  const root = writeRepository(sampleFiles);
  const before = await composeSources(root, undefined, readSubgraphs(root, sampleServices));
  writeFiles(root, renamedKey);
  const after = await composeSources(root, before.schemas, readSubgraphs(root, sampleServices));
  expect(after.ok ? [] : after.report.slice(0, 2)).toEqual([
    "changed since the last save that composed: services/users/schema.graphql (@tributary/users-team)",
    expect.stringMatching(/^services\/users\/schema.graphql:\d+:11 \(@tributary\/users-team\) KEY_CHANGED User$/),
  ]);
});

test("an error that Apollo reports in another subgraph is printed with the changed file first", async () => {
  const external = withChange(
    sampleFiles,
    posts,
    "  posts(first",
    '  email: String @external\n  greeting: String @requires(fields: "email")\n  posts(first',
  );
  const lines = await report(
    await commitRepository(external),
    withChange(external, users, "  email: String\n  nick", "  nick"),
  );
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
  const root = await commitRepository(shared);
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
  const root = await commitRepository(committed);
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
  const lines = await report(await commitRepository(sampleFiles), broken);
  expect(lines.filter((line) => line.endsWith(" SYNTAX_ERROR"))).toHaveLength(2);
  expect(lines.at(-1)).toBe("2 causes, 2 errors.");
});

async function report(root: string, edited: Files, ...args: readonly string[]): Promise<readonly string[]> {
  writeFiles(root, edited);
  let text = "";
  expect(
    await runCheck({
      root,
      args,
      today: "2026-06-01",
      createPlanner: createOperationPlanner,
      print: (more) => (text += more),
    }),
  ).toBe(1);
  return text.trimEnd().split("\n");
}

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

test("a notice of the composition is printed when it is new", async () => {
  const dev = await start(sampleFiles, "main");
  const edited = withChange(sampleFiles, users, "federation/v2.14", "federation/v2.15");
  const notice = expect.stringMatching(/^FEDERATION_VERSION_LOWERED: services\/users\/schema\.graphql:1:15 /);
  expect(await dev.save(edited)).toEqual([notice]);
  expect(await dev.save(withChange(edited, users, "One user.", "A user."))).toEqual([]);
  expect(await dev.save(sampleFiles)).toEqual([]);
  expect(await dev.save(edited)).toEqual([notice]);
});

test("a base without routes.json does not stop the dev loop", async () => {
  const { save, root } = await start(sampleFiles, "main");
  git(root, "rm", "-q", "--cached", "supergraph/routes.json");
  git(root, "commit", "-q", "-m", "Remove the routes");
  git(root, "branch", "-f", "main");
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
  const root = await commitRepository(files);
  if (branch === undefined) rmSync(join(root, ".git"), { recursive: true });
  else if (branch !== "main") git(root, "branch", "-q", "-m", branch);
  // On main the check compares with origin/main or the last commit, so the edits are made on a branch.
  else git(root, "switch", "-q", "-c", "feature");
  const dataDir = join(root, ".data");
  mkdirSync(join(publishedFiles(dataDir).supergraph, ".."), { recursive: true });
  let lines: string[] = [];
  const applyChanges = createChangeHandler({
    root,
    dataDir,
    services: sampleServices,
    parts: new Map(),
    migrate: async () => {},
    print: (_, line) => void lines.push(line),
    gatewaySwapMs: 1,
  });
  return {
    root,
    async save(edited: Files) {
      writeFiles(root, edited);
      lines = [];
      await applyChanges([users]);
      return lines.filter((line) => !line.startsWith("published a new supergraph"));
    },
  };
}
