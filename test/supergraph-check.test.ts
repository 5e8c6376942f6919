import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateRepository } from "../scripts/generate.ts";
import { createOperationPlanner } from "../scripts/check/operation-planner.ts";
import { runCheck } from "../supergraph/check.ts";
import { commitAll, commitRepository, git } from "./supergraph/committed-repository.ts";
import {
  contractProblems,
  documentedFiles,
  type Files,
  invalidContract,
  lineOf,
  sampleFiles,
  sampleServices,
  userDocumentsFile,
  withChange,
  writeDocumentedRepository,
  writeFiles,
  writeRepository,
} from "./supergraph/repository-fixture.ts";

const users = "services/users/schema.graphql";
const posts = "services/posts/schema.graphql";
const userRoutes = "services/users/src/rest/routes.ts";

const today = "2026-06-01";
const nicknameRemoval = `- change: FIELD_REMOVED User.nickname
  owner: "@tributary/users-team"
  reason: Unused since May.
  until: 2026-06-01
`;

/** The sample repository, committed once. Most tests edit a copy of it. */
const template = mkdtempSync(join(tmpdir(), "tributary-check-"));
beforeAll(() => {
  writeFiles(template, sampleFiles);
  return commitAll(template);
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

test("without a change the check passes", async () => {
  const { code, text } = await checkEdit((files) => files);
  expect(code).toBe(0);
  expect(text).toMatch(/^The supergraph composes and breaks no client, compared with HEAD \([0-9a-f]{10}\)\.\n$/);
});

test("the check reports the problems of all files of a contract at once, with place and owner", async () => {
  let text = "";
  const root = writeRepository({ ...sampleFiles, ...invalidContract });
  const print = (more: string) => void (text += more);
  const code = await runCheck({ root, args: [], today, createPlanner: createOperationPlanner, print });
  expect(code).toBe(1);
  for (const problem of contractProblems) expect(text).toMatch(problem);
});

test("a removed field fails the check, with its owner, file, former line and an alternative", async () => {
  const { code, text } = await checkEdit((files) => withChange(files, users, "  email: String\n  nick", "  nick"));
  expect(code).toBe(1);
  expect(text.split("\n")).toEqual([
    `BREAKING ${users}:${lineOf(sampleFiles, users, "email: String")}:3 (@tributary/users-team) as of HEAD FIELD_REMOVED User.email`,
    "  Field 'email' was removed from object type 'User'",
    "  Clients: unknown, as clients/ has no operations.",
    expect.stringMatching(/^ {2}Instead: keep the field, mark it @deprecated/),
    "To accept a change that no client depends on, add it to supergraph/accepted-changes.yaml with a reason:",
    "- change: FIELD_REMOVED User.email",
    '  owner: "@tributary/users-team"',
    "  until: 2026-07-01",
    "  reason:",
    expect.stringMatching(/^1 breaking change, compared with HEAD/),
    "",
  ]);
});

test("the removal of a deprecated field fails, quotes the deprecation reason, and suggests an entry", async () => {
  const { code, text } = await checkEdit(withoutNickname);
  expect(code).toBe(1);
  expect(text).toContain("FIELD_REMOVED User.nickname\n");
  expect(text).toContain(
    '  Instead: it is deprecated ("Use name."). When no client uses it, accept its removal in supergraph/accepted-changes.yaml.\n',
  );
  expect(text).not.toContain("mark it @deprecated");
});

test("the removal of a deprecated argument, input field or enum value suggests an entry, too", async () => {
  const parts = [
    ["(first: Int! = 20, role: Role)", '(first: Int! = 20, role: Role @deprecated(reason: "1"))', "(first: Int! = 20)"],
    ["  locale", '  old: Int @deprecated(reason: "2")\n  locale', "  locale"],
    ["  AUTHOR\n", '  AUTHOR @deprecated(reason: "3")\n', ""],
  ] as const;
  const before = parts.reduce((files, [text, deprecated]) => withChange(files, users, text, deprecated), sampleFiles);
  const root = await commitRepository(before);
  writeFiles(
    root,
    parts.reduce((files, [, deprecated, removed]) => withChange(files, users, deprecated, removed), before),
  );
  const { code, text } = await check(root);
  expect(code).toBe(1);
  for (const reason of ["1", "2", "3"]) expect(text).toContain(`it is deprecated ("${reason}")`);
});

test("@oneOf on an existing input breaks clients, and its removal does not", async () => {
  const input = "input By { id: ID name: String }\n";
  const addition = `${input}extend type Query {\n  find(by: By): User\n}\n`;
  const before = { ...sampleFiles, [users]: sampleFiles[users] + addition };
  const after = withChange(before, users, "input By {", "input By @oneOf {");
  const added = await checkChange(before, after);
  expect(added.code).toBe(1);
  expect(added.text).toContain(
    `BREAKING ${users}:${lineOf(before, users, "input By")}:7 (@tributary/users-team) DIRECTIVE_USAGE_INPUT_OBJECT_ADDED By`,
  );
  expect(added.text).toContain("Instead: keep the input without @oneOf");
  const removed = await checkChange(after, before);
  expect(removed.text).toMatch(/^The supergraph composes and breaks no client/);
});

test("the check prints the notices of the composition", async () => {
  const { code, text } = await checkEdit((files) => withChange(files, users, "federation/v2.14", "federation/v2.15"));
  expect(text).toMatch(/^note: FEDERATION_VERSION_LOWERED: services\/users\/schema\.graphql:1:15 /);
  expect(code).toBe(0);
});

test("an accepted change passes, and is listed with its owner, date and reason", async () => {
  const { code, text } = await checkEdit((files) => withEntries(withoutNickname(files), nicknameRemoval));
  expect(text).toMatch(
    /^ACCEPTED FIELD_REMOVED User\.nickname \(@tributary\/users-team\) until 2026-06-01: Unused since May\.\nThe supergraph composes; 1 breaking change is accepted, compared with HEAD \([0-9a-f]{10}\)\.\n$/,
  );
  expect(code).toBe(0);
});

test("an accepted change does not accept other breaking changes", async () => {
  const { code, text } = await checkEdit((files) =>
    withEntries(withChange(withoutNickname(files), users, "  email: String\n  created", "  created"), nicknameRemoval),
  );
  expect(code).toBe(1);
  expect(text).toContain("ACCEPTED FIELD_REMOVED User.nickname");
  expect(text).toContain("FIELD_REMOVED User.email\n");
  expect(text).not.toContain("- change: FIELD_REMOVED User.nickname");
  expect(text).toMatch(/1 breaking change, 1 accepted, compared with/);
});

test("an entry is valid until the end of its day; after that the check fails and reports it as expired", async () => {
  const expired = nicknameRemoval.replace("2026-06-01", "2026-05-31");
  const { code, text } = await checkEdit((files) => withEntries(withoutNickname(files), expired));
  expect(code).toBe(1);
  expect(text).toContain(
    "EXPIRED supergraph/accepted-changes.yaml:1 FIELD_REMOVED User.nickname was accepted until 2026-05-31. Revert the change, or agree with @tributary/users-team on a later date.\n",
  );
});

test("an entry with a team that does not own the file fails and names the owner", async () => {
  const foreign = nicknameRemoval.replace("users-team", "posts-team");
  const { code, text } = await checkEdit((files) => withEntries(withoutNickname(files), foreign));
  expect(code).toBe(1);
  expect(text).toContain(
    "WRONG_OWNER supergraph/accepted-changes.yaml:1 FIELD_REMOVED User.nickname belongs to @tributary/users-team, not to @tributary/posts-team. Correct the owner.\n",
  );
});

test("an unused entry is reported without failing the check, as every entry is unused once its change is on main", async () => {
  const { code, text } = await checkEdit((files) => withEntries(files, nicknameRemoval));
  expect(code).toBe(0);
  expect(text).toContain(
    "UNUSED supergraph/accepted-changes.yaml:1 FIELD_REMOVED User.nickname: no breaking change matches it, compared with HEAD. Remove the entry.\n",
  );
});

test("an invalid accepted-changes.yaml fails with the line, before the comparison", async () => {
  const { code, text } = await checkEdit((files) => withEntries(files, nicknameRemoval.replace("until", "untill")));
  expect(code).toBe(1);
  expect(text).toContain("supergraph/accepted-changes.yaml:4: unknown key untill.");
  expect(text).not.toContain("compared");
});

test("an entry that the check prints accepts its change when a reason is added", async () => {
  const edit = (files: Files) =>
    withChange(
      withChange(withoutNickname(files), users, "users(first", "people(first"),
      userRoutes,
      '"/users", versions: [1], query: ["limit","cursor","role"]',
      '"/users", versions: [2], query: ["limit"]',
    );
  const rejected = await checkEdit(edit);
  const entries = rejected.text.slice(rejected.text.indexOf("- change"), rejected.text.lastIndexOf("5 breaking"));
  const accepted = await checkEdit((files) =>
    withEntries(edit(files), entries.replaceAll("reason:", "reason: Unused.")),
  );
  expect(accepted.text).toContain("The supergraph composes; 5 breaking changes are accepted");
  expect([rejected.code, accepted.code]).toEqual([1, 0]);
});

test("a field with another type is reported at its current line", async () => {
  const edit = (files: Files) => withChange(files, users, "  createdAt: DateTime!", '  "New."\n  createdAt: String!');
  const { code, text } = await checkEdit(edit);
  expect(code).toBe(1);
  const line = lineOf(edit(sampleFiles), users, "createdAt: String!");
  expect(text).toContain(`BREAKING ${users}:${line}:3 (@tributary/users-team) FIELD_TYPE_CHANGED`);
});

test("a field that another subgraph adds to a type is reported with that subgraph's owner", async () => {
  const { text } = await checkEdit((files) => withChange(files, posts, "posts(first: Int = 20)", "articles"));
  const line = lineOf(sampleFiles, posts, "posts(first");
  expect(text).toContain(`BREAKING ${posts}:${line}:3 (@tributary/posts-team) as of HEAD FIELD_REMOVED`);
  expect(text).not.toContain("users-team");
});

test("if several subgraphs share a field, only the one that changed it is named", async () => {
  const shared = (type: string) => (files: Files) =>
    withChange(files, posts, "  posts(first", `  nickname: ${type} @shareable\n  posts(first`);
  const before = withChange(shared("String!")(sampleFiles), users, "nickname: String", "nickname: String! @shareable");
  const root = await commitRepository(before);
  writeFiles(root, withChange(before, posts, "nickname: String!", "nickname: String"));
  const { text } = await check(root);
  expect(text).toMatch(
    /^BREAKING services\/posts\/schema\.graphql:\d+:3 \(@tributary\/posts-team\) FIELD_TYPE_CHANGED/,
  );
  expect(text).not.toContain("users-team");
});

test.each([
  [
    [users, "(first: Int! = 20, role: Role)", "(first: Int! = 20)", "FIELD_ARGUMENT_REMOVED"],
    [users, ' = "en"', "", "INPUT_FIELD_DEFAULT_VALUE_CHANGED"],
    [users, "  AUTHOR\n", "", "ENUM_VALUE_REMOVED"],
    [users, "String\n}\n", "String!\n}\n", "INPUT_FIELD_TYPE_CHANGED"],
    [posts, "type Query {\n  post(id: ID!): Post\n}\n", "", "FIELD_REMOVED"],
  ],
  [
    [users, "role: Role): [User]", "role: Role!): [User]", "FIELD_ARGUMENT_TYPE_CHANGED"],
    [users, "Int! = 20", "Int!", "FIELD_ARGUMENT_DEFAULT_CHANGED"],
    [users, "Input {\n", "Input {\n  role: Role!\n", "INPUT_FIELD_ADDED"],
  ],
] as const)("each breaking change of a schema is printed with a line of its owner", async (...changes) => {
  const edit = (files: Files) =>
    changes.reduce((edited, [file, from, to]) => withChange(edited, file, from, to), files);
  const { code, text } = await checkEdit(edit);
  expect(code).toBe(1);
  for (const [file, , , type] of changes) {
    const owner = file === users ? "users" : "posts";
    expect(text).toMatch(
      new RegExp(`BREAKING ${file}:\\d+:\\d+ \\(@tributary/${owner}-team\\)( as of HEAD)? ${type} `),
    );
  }
});

test("a removed type is breaking, and so is each field that returns it", async () => {
  const edit = (files: Files) =>
    withChange(
      withChange(files, "services/orders/schema.graphql", "  total: Money!\n", ""),
      "services/orders/schema.graphql",
      'type Money {\n  amountMinor: Int! @tag(name: "internal")\n  currency: String!\n}\n',
      "",
    );
  const { text } = await checkEdit(edit);
  expect(text).toMatch(
    /BREAKING services\/orders\/schema\.graphql:\d+:6 \(@tributary\/orders-team\) as of HEAD TYPE_REMOVED/,
  );
  expect(text).toContain("FIELD_REMOVED");
});

test("a new field, a deprecation and a renamed path parameter are not breaking", async () => {
  const edit = (files: Files) => {
    const added = withChange(files, users, "  name: String!\n", "  name: String!\n  age: Int\n");
    const deprecated = '  email: String @deprecated(reason: "Use name.")\n';
    return withChange(
      withChange(added, users, "  email: String\n", deprecated),
      userRoutes,
      "/users/:id",
      "/users/:userId",
    );
  };
  expect(await checkEdit(edit)).toEqual({
    code: 0,
    text: expect.stringMatching(/^The supergraph composes and breaks no client/),
  });
});

test("a dangerous change is printed without failing the check", async () => {
  const { code, text } = await checkEdit((files) => withChange(files, users, "  AUTHOR\n", "  AUTHOR\n  EDITOR\n"));
  expect(code).toBe(0);
  expect(text).toContain(`DANGEROUS ${users}:`);
  expect(text).toContain("(@tributary/users-team) ENUM_VALUE_ADDED");
});

test("an optional argument is no change for clients, a required one breaks them", async () => {
  const withArgument = (argument: string) => (files: Files) =>
    withChange(files, users, "user(id: ID!)", `user(id: ID!, ${argument})`);
  for (const optional of ["locale: String", "limit: Int! = 3"]) {
    const { code, text } = await checkEdit(withArgument(optional));
    expect([code, text]).toEqual([0, expect.stringMatching(/^The supergraph composes and breaks no client/)]);
  }
  const required = await checkEdit(withArgument("locale: String!"));
  expect(required.text).toContain("FIELD_ARGUMENT_ADDED");
  expect(required.code).toBe(1);
});

test("a composition error fails with file, line and owner, before the comparison", async () => {
  const { code, text } = await checkEdit((files) => withChange(files, posts, "author: User", "author: Usr"));
  expect(code).toBe(1);
  expect(text).toContain(
    `${posts}:${lineOf(sampleFiles, posts, "author: User")}:11 (@tributary/posts-team) INVALID_GRAPHQL`,
  );
  expect(text).not.toContain("compared");
});

test("a removed route is breaking and names its owner and its former line", async () => {
  const { code, text } = await checkEdit((files) =>
    withChange(files, userRoutes, '  { id: "getUser"', '  // { id: "getUsr"'),
  );
  expect(code).toBe(1);
  expect(text).toContain(`BREAKING ${userRoutes}:3:5 (@tributary/users-team) as of HEAD ROUTE_REMOVED`);
  expect(text).toContain("Route GET /users/:id was removed.");
});

test("a removed version and a removed query parameter of a route are breaking", async () => {
  const { code, text } = await checkEdit((files) =>
    withChange(
      files,
      userRoutes,
      'versions: [1], query: ["limit","cursor","role"]',
      'versions: [2], query: ["limit","role"]',
    ),
  );
  expect(code).toBe(1);
  expect(text).toContain(`BREAKING ${userRoutes}:2:5 (@tributary/users-team) ROUTE_VERSION_REMOVED`);
  expect(text).toContain("no longer accepts the query parameter cursor");
});

test("a service removed from the list is breaking and still names its team", async () => {
  const root = await commitRepository(sampleFiles);
  const { code, text } = await check(root, [], sampleServices.slice(0, 3));
  expect(code).toBe(1);
  expect(text).toMatch(
    /BREAKING services\/orders\/schema\.graphql:\d+:3 \(@tributary\/orders-team\) as of HEAD FIELD_REMOVED/,
  );
  expect(text).toContain("Route POST /orders was removed.");
});

test("a branch is compared with its merge base, so that later commits on main do not look like removals", async () => {
  const root = await commitRepository(sampleFiles);
  git(root, "switch", "-q", "-c", "feature");
  git(root, "switch", "-q", "main");
  writeFiles(root, withChange(sampleFiles, users, "  name: String!\n", "  name: String!\n  age: Int\n"));
  await commitAll(root);
  git(root, "switch", "-q", "feature");
  expect(await check(root)).toEqual({ code: 0, text: expect.stringContaining("compared with main (") });
  expect(await check(root, ["--against", "main"])).toMatchObject({ code: 1 });
});

test("a breaking change that is committed to main but not pushed is found", async () => {
  const published = await commitRepository(sampleFiles);
  const root = writeRepository({});
  git(root, "clone", "-q", published, ".");
  writeFiles(root, withChange(sampleFiles, users, "  email: String\n  nick", "  nick"));
  await commitAll(root);
  expect(await check(root)).toEqual({ code: 1, text: expect.stringContaining("as of origin/main FIELD_REMOVED") });
});

test("a breaking change that is committed on a branch is found", async () => {
  const root = await commitRepository(sampleFiles);
  git(root, "switch", "-q", "-c", "feature");
  writeFiles(root, withChange(sampleFiles, users, "  email: String\n  nick", "  nick"));
  await commitAll(root);
  expect(await check(root)).toEqual({ code: 1, text: expect.stringContaining("as of main FIELD_REMOVED") });
});

test("an unknown base, an unknown option and a base without routes.json exit with 2", async () => {
  const root = await commitRepository(sampleFiles);
  expect(await check(root, ["--against", "nowhere"])).toEqual({
    code: 2,
    text: "Unknown commit nowhere.\n",
  });
  expect(await check(root, ["--again", "main"])).toMatchObject({ code: 2, text: expect.stringContaining("usage:") });
  rmSync(join(root, "supergraph/routes.json"));
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Remove the routes");
  expect(await check(root)).toEqual({ code: 2, text: expect.stringContaining("but not supergraph/routes.json") });
});

test("before the first commit, and before the first composition, the check passes without a comparison", async () => {
  const root = writeRepository(sampleFiles);
  expect(await check(root)).toEqual({
    code: 0,
    text: "The supergraph composes. The repository has no commit to compare with.\n",
  });
  git(root, "init", "-q", "-b", "main");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Begin");
  expect(await check(root)).toEqual({
    code: 0,
    text: "The supergraph composes. HEAD has no supergraph to compare with.\n",
  });
});

test("a document that breaks clients fails the check, and names the owner and the route", async () => {
  const text = await checkDocuments(withChange(documentedFiles, userDocumentsFile, "max(80)", "max(40)"), 1);
  expect(text).toContain("BREAKING services/users/src/rest/routes.ts:4:5 (@tributary/users-team) DOCUMENT_CHANGED");
  expect(text).toContain("createUser in v1: the body/name has a tighter maxLength\n");
});

test("a document that accepts more input breaks no client", async () => {
  await checkDocuments(withChange(documentedFiles, userDocumentsFile, "max(80)", "max(160)"), 0);
});

const clients = {
  "clients/web/client.json": '{ "owner": "@acme/web-team", "contact": "web@acme.example" }',
  "clients/web/3.json":
    '{ "a1": "query Me { user(id: 1) { email } }", "a2": "query Mail { users { ...M } } fragment M on User { email }" }',
  "clients/app/client.json":
    '{ "owner": "@acme/app-team", "contact": "app@acme.example", "expires": { "1.json": "2026-05-31" } }',
  "clients/app/1.json": '{ "b1": "query Old { user(id: 1) { email } }" }',
  "clients/app/2.json": '{ "b2": "query Name { user(id: 1) { name } }" }',
};
const withoutEmail = (files: Files) => withChange({ ...files, ...clients }, users, "  email: String\n  nick", "  nick");

test("a breaking change names the clients and operations that it breaks, and those that it does not", async () => {
  const { code, text } = await checkEdit(withoutEmail);
  expect(code).toBe(1);
  expect(text).toContain("  Clients: web@3 (@acme/web-team): 2 operations (Me, Mail); app@2 unaffected.\n");
  const unused = await checkEdit((files) => withoutNickname({ ...files, ...clients }));
  expect(unused.code).toBe(1);
  expect(unused.text).toContain("  Clients: no known client uses it.\n");
});

test("--json has each change with what it breaks, and whether it fails", async () => {
  const edit = (files: Files) => withEntries(withoutNickname(withoutEmail(files)), nicknameRemoval);
  const { code, text } = await checkEdit(edit, ["--json"]);
  expect(code).toBe(1);
  const breaks = [{ release: "web@3", owner: "@acme/web-team", operations: ["Me", "Mail"] }];
  expect(JSON.parse(text)).toMatchObject({
    verdict: "failed",
    base: { name: "HEAD" },
    releases: ["app@2", "web@3"],
    changes: [
      { level: "breaking", code: "FIELD_REMOVED", subject: "User.email", fails: true, breaks },
      { level: "breaking", code: "FIELD_REMOVED", subject: "User.nickname", fails: false, breaks: [] },
    ],
    accepted: [{ change: "FIELD_REMOVED User.nickname" }],
  });
});

test("--markdown is a table for a comment on a pull request", async () => {
  const { code, text } = await checkEdit(withoutEmail, ["--markdown"]);
  expect(code).toBe(1);
  const line = lineOf(sampleFiles, users, "email: String");
  expect(text.split("\n")).toEqual([
    "### Schema check failed",
    "",
    expect.stringMatching(/^1 breaking change, compared with HEAD/),
    "",
    "| level | change | what | where | known clients |",
    "|---|---|---|---|---|",
    `| breaking | \`FIELD_REMOVED User.email\` | Field 'email' was removed from object type 'User' | ${users}:${line}:3 (@tributary/users-team) as of HEAD | web@3 (@acme/web-team): 2 operations (Me, Mail); app@2 unaffected |`,
    "",
    "",
  ]);
  const invalid = await checkEdit((files) => withChange(files, posts, "author: User", "author: Usr"), ["--markdown"]);
  expect(invalid.text).toMatch(/^### Schema check failed\n\n```text\n.*INVALID_GRAPHQL/s);
  expect(await checkEdit((files) => files, ["--markdown", "--json"])).toMatchObject({ code: 2 });
});

test("an invalid manifest fails the check, with its file and owner", async () => {
  const { code, text } = await checkEdit((files) => ({ ...files, ...clients, "clients/web/3.json": "{" }));
  expect(code).toBe(1);
  expect(text).toMatch(/^clients\/web\/3\.json:1 \(@acme\/web-team\) is not valid JSON/);
});

test("a field that moves to another service fails the check, if an operation then needs more steps", async () => {
  const move = (files: Files) =>
    withChange(
      withChange({ ...files, ...clients }, users, "  email: String\n  nick", "  nick"),
      posts,
      "  posts(first",
      "  email: String\n  posts(first",
    );
  const { code, text } = await checkEdit(move);
  expect(code).toBe(1);
  const line = lineOf(sampleFiles, users, "  email: String");
  expect(text).toContain(`BREAKING ${users}:${line}:3 (@tributary/users-team) as of HEAD PLAN_REGRESSION User.email\n`);
  expect(text).toContain(
    "Me needs 2 fetches instead of 1, 2 steps instead of 1.\n  Clients: web@3 (@acme/web-team): 2 operations",
  );
  expect(text).toContain("- change: PLAN_REGRESSION User.email\n");
});

test("with evidence the removal of a deprecated field that no client uses passes, and needs no entry", async () => {
  const { code, text } = await checkEdit(withoutNickname, ["--usage", writeUsage([])]);
  expect(code).toBe(0);
  expect(text).toContain("FIELD_REMOVED User.nickname\n");
  expect(text).toContain("No client used it in the 30 days before 2026-06-01.");
  expect(text).not.toContain("To accept a change");
});

test("evidence of a use, of another day or of other elements does not let a removal pass", async () => {
  const used = [{ client: "app", verified: true, requests: 7, daysAgo: 2 }];
  const inUse = await checkEdit(withoutNickname, ["--usage", writeUsage(used)]);
  expect(inUse.code).toBe(1);
  expect(inUse.text).toContain("It is used by app.");
  const old = await checkEdit(withoutNickname, ["--usage", writeUsage([], "2026-05-01")]);
  expect(old.code).toBe(1);
  expect(old.text).toMatch(/^note: The usage evidence is of 2026-05-01, and may be at most 7 days old/);
  const other = await checkEdit(
    (files) => withChange(files, users, "  email: String\n  nick", "  nick"),
    ["--usage", writeUsage([])],
  );
  expect(other.code).toBe(1);
  const missing = await checkEdit(withoutNickname, ["--usage", "/nowhere.json"]);
  expect(missing).toEqual({ code: 2, text: expect.stringMatching(/^\/nowhere\.json cannot be read/) as string });
});

test("a change of the graph that no known operation needs passes only where only known documents are executed", async () => {
  const settings = (mode: string) => ({ "supergraph/gateway.yaml": `documents: { mode: ${mode} }\n` });
  const withoutEmail = (files: Files) => withChange(files, users, "  email: String\n  nick", "  nick");
  const checkIn = async (before: Files, after: Files) => {
    const { code, text } = await checkChange({ ...sampleFiles, ...before }, { ...sampleFiles, ...after });
    return [code, /(\w+) \S+ \(\S+\) as of HEAD FIELD_REMOVED/.exec(text)?.[1]];
  };
  const known = { ...clients, ...settings("enforce") };
  const removed = withoutNickname({ ...sampleFiles, ...known });
  expect(await checkIn(known, removed)).toEqual([0, "DANGEROUS"]);
  expect(await checkIn(known, withoutEmail({ ...sampleFiles, ...known }))).toEqual([1, "BREAKING"]);
  expect(await checkIn({ ...clients, ...settings("log") }, { ...removed, ...settings("log") })).toEqual([
    1,
    "BREAKING",
  ]);
  // Switched on by the same change.
  expect(await checkIn({ ...clients, ...settings("log") }, removed)).toEqual([1, "BREAKING"]);
  // Without registered clients.
  expect(await checkIn(settings("enforce"), withoutNickname({ ...sampleFiles, ...settings("enforce") }))).toEqual([
    1,
    "BREAKING",
  ]);
});

/** Evidence about User.nickname. */
function writeUsage(uses: readonly object[], day = today): string {
  const file = join(mkdtempSync(join(tmpdir(), "tributary-usage-")), "usage.json");
  const elements = [{ element: "User.nickname", owners: [], deprecation: "Use name.", wholeDays: 30, uses }];
  writeFileSync(file, JSON.stringify({ until: `${day}T08:00:00.000Z`, days: 30, elements }));
  return file;
}

/** Commits the sample in one repository and checks the edited files in another one, as Node imports a file's first version only. */
async function checkDocuments(edited: Files, code: number): Promise<string> {
  const root = writeDocumentedRepository(documentedFiles);
  await commitAll(root, generateRepository);
  const editedRoot = writeDocumentedRepository(edited);
  cpSync(join(root, ".git"), join(editedRoot, ".git"), { recursive: true });
  const checked = await check(editedRoot);
  expect(checked.code).toBe(code);
  return checked.text;
}

function withoutNickname(files: Files): Files {
  return withChange(files, users, '  nickname: String @deprecated(reason: "Use name.")\n', "");
}

function withEntries(files: Files, entries: string): Files {
  return { ...files, "supergraph/accepted-changes.yaml": entries };
}

async function checkEdit(edit: (files: Files) => Files, args: readonly string[] = []) {
  const root = writeRepository({});
  cpSync(template, root, { recursive: true });
  writeFiles(root, edit(sampleFiles));
  return check(root, args);
}

async function checkChange(before: Files, after: Files) {
  const root = await commitRepository(before);
  writeFiles(root, after);
  return check(root);
}

async function check(root: string, args: readonly string[] = [], list = sampleServices) {
  let text = "";
  const print = (more: string) => void (text += more);
  return {
    code: await runCheck({ root, args, subgraphs: list, today, createPlanner: createOperationPlanner, print }),
    text,
  };
}
