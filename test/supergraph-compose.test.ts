import { readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { composeRepository, composeSubgraphs } from "../supergraph/compose.ts";
import { printCompositionError } from "../supergraph/composition/composition-errors.ts";
import { runGenerator } from "../supergraph/composition/generator-command.ts";
import type { Files } from "./supergraph/repository-fixture.ts";
import {
  sampleFiles,
  lineOf,
  sourcesOf,
  withChange,
  writeFiles,
  writeRepository,
} from "./supergraph/repository-fixture.ts";

const users = "services/users/schema.graphql";
const posts = "services/posts/schema.graphql";

test("four subgraphs compose to one supergraph, whose API schema has no federation directives", () => {
  const { supergraphSdl, apiSdl } = composed(sampleFiles);
  expect(supergraphSdl).toContain('ORDERS @join__graph(name: "orders", url: "http://127.0.0.1:4004/graphql")');
  expect(apiSdl).toContain("orders: [Order]");
  expect(apiSdl).toContain('nickname: String @deprecated(reason: "Use name.")');
  expect(apiSdl).toContain('"""One user."""');
  expect(apiSdl).toContain("scalar DateTime @specifiedBy");
  expect(apiSdl).not.toMatch(/join__|link__|@key|@tag|_entities|_service/);
});

test("the result does not depend on the order of the subgraphs", () => {
  const reversed = composeSubgraphs(sourcesOf(sampleFiles).toReversed());
  expect(reversed).toEqual(composeSubgraphs(sourcesOf(sampleFiles)));
});

test("a syntax error names the file, line and column", () => {
  const broken = withChange(sampleFiles, posts, "title: String!", "title String!");
  expect(errorsOf(broken)).toEqual([
    {
      code: "SYNTAX_ERROR",
      message: 'Syntax Error: Expected ":", found Name "String".',
      subgraph: "posts",
      owner: "@tributary/posts-team",
      file: posts,
      line: lineOf(broken, posts, "title String!"),
      column: 9,
      advice: expect.stringContaining("correct this line or the one before it"),
    },
  ]);
});

test("syntax errors of two subgraphs are reported together", () => {
  const broken = withChange(withChange(sampleFiles, posts, "type Post", "typo Post"), users, "enum Role", "enum");
  expect(errorsOf(broken).map(({ owner }) => owner)).toEqual(["@tributary/users-team", "@tributary/posts-team"]);
});

test("a conflict between two subgraphs names both with their lines", () => {
  const broken = withChange(
    withChange(sampleFiles, users, "nickname: String", "nickname: String @shareable"),
    posts,
    "  posts(first",
    '  "As signed."\n  nickname: Int @shareable\n  posts(first',
  );
  const [error] = errorsOf(broken);
  expect(error).toMatchObject({
    code: "FIELD_TYPE_MISMATCH",
    owner: "@tributary/posts-team",
    file: posts,
    line: lineOf(broken, posts, "nickname: Int"),
    column: 3,
    elsewhere: [{ owner: "@tributary/users-team", file: users, line: lineOf(broken, users, "nickname: String") }],
  });
});

test("an unknown type is reported at the field that uses it", () => {
  const broken = withChange(sampleFiles, users, "role: Role!", "role: Roll!");
  expect(errorsOf(broken)).toMatchObject([
    { subgraph: "users", line: lineOf(broken, users, "role: Roll!"), column: 9 },
  ]);
});

test("a field that no query plan can reach is reported at its line, although Apollo's error has no location", () => {
  const comments = "services/comments/schema.graphql";
  const broken = withChange(
    sampleFiles,
    comments,
    '@key(fields: "id") {\n  id: ID!\n  commentCount',
    '@key(fields: "slug") {\n  slug: ID!\n  commentCount',
  );
  const commentCount = errorsOf(broken).find(({ message }) => message.includes("commentCount"));
  expect(commentCount).toMatchObject({
    code: "SATISFIABILITY_ERROR",
    owner: "@tributary/comments-team",
    file: comments,
    line: lineOf(broken, comments, "commentCount"),
  });
});

test("a type that a schema defines twice is reported with the schema's owner", () => {
  const broken = { ...sampleFiles, [users]: `${sampleFiles[users]}\nscalar DateTime\n` };
  expect(errorsOf(broken)).toMatchObject([{ code: "INVALID_GRAPHQL", owner: "@tributary/users-team", file: users }]);
});

test("a missing schema fails and names its owner, unless composition is partial", async () => {
  const { [posts]: _, ...without } = sampleFiles;
  expect(errorsOf(without)).toMatchObject([{ code: "SCHEMA_MISSING", owner: "@tributary/posts-team", file: posts }]);
  const root = writeRepository(without);
  expect(await composeRepository(root, { partial: false })).toMatchObject({ ok: false });
  expect(await composeRepository(root, { partial: true })).toMatchObject({ ok: true });
});

test("an error is printed with its place, owner, code and the other places", () => {
  const place = { subgraph: "posts", owner: "@tributary/posts-team", file: posts, line: 4, column: 3 };
  const error = { message: "No.\nReally.", code: "NO", ...place, elsewhere: [{ ...place, line: 9 }] };
  expect(printCompositionError(error).split("\n")).toEqual([
    "services/posts/schema.graphql:4:3 (@tributary/posts-team) NO",
    "  No.",
    "  Really.",
    "  see also services/posts/schema.graphql:9:3 (@tributary/posts-team)",
  ]);
});

test("the second composition of the same files writes nothing", async () => {
  const root = writeRepository(sampleFiles);
  const first = await run(root);
  expect(first.text.split("\n").slice(0, 3)).toEqual([
    "wrote supergraph/supergraph.graphql",
    "wrote supergraph/api.graphql",
    "wrote supergraph/routes.json",
  ]);
  const file = join(root, "supergraph/supergraph.graphql");
  utimesSync(file, 1, 1);
  expect(await run(root)).toEqual({ code: 0, text: "" });
  expect(statSync(file).mtimeMs).toBe(1000);
});

test("a file is replaced atomically, so that a watcher never reads a partly written one", async () => {
  const root = writeRepository(sampleFiles);
  await run(root);
  const file = join(root, "supergraph/api.graphql");
  const before = statSync(file).ino;
  writeFiles(root, withChange(sampleFiles, users, "  name: String!\n", "  name: String!\n  age: Int\n"));
  await run(root);
  expect(statSync(file).ino).not.toBe(before);
  expect(readdirSync(join(root, "supergraph")).toSorted()).toEqual([
    "api.graphql",
    "routes.json",
    "supergraph.graphql",
  ]);
});

test("the check names the stale file and the command, and writes nothing", async () => {
  const root = writeRepository(sampleFiles);
  await run(root);
  writeFiles(root, { "supergraph/api.graphql": "type Query { old: Int }\n" });
  expect(await run(root, "--check")).toEqual({
    code: 1,
    text: "supergraph/api.graphql is stale. Run: npm run generate\n",
  });
  expect(readFileSync(join(root, "supergraph/api.graphql"), "utf8")).toContain("old");
});

test("the check passes for current files", async () => {
  const root = writeRepository(sampleFiles);
  await run(root);
  expect(await run(root, "--check")).toEqual({ code: 0, text: "" });
});

test("a composition error writes nothing and exits with 1", async () => {
  const root = writeRepository(sampleFiles);
  await run(root);
  const before = readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8");
  writeFiles(root, withChange(sampleFiles, users, "role: Role!", "role: Roll!"));
  const { code, text } = await run(root);
  expect(code).toBe(1);
  expect(text).toContain(`${users}:23:9 (@tributary/users-team) INVALID_GRAPHQL`);
  expect(readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8")).toBe(before);
});

test("an unknown option exits with 2 and prints the usage", async () => {
  expect(await run(writeRepository(sampleFiles), "--chek")).toEqual({
    code: 2,
    text: "usage: npm run generate [--check] [--partial]\n",
  });
});

function composed(files: Files) {
  const composition = composeSubgraphs(sourcesOf(files));
  if (!composition.ok) throw new Error(composition.errors.map(printCompositionError).join("\n"));
  return composition;
}

function errorsOf(files: Files) {
  const composition = composeSubgraphs(sourcesOf(files));
  if (composition.ok) throw new Error("The supergraph composes.");
  return composition.errors;
}

async function run(root: string, ...args: readonly string[]) {
  let text = "";
  const print = (more: string) => void (text += more);
  const code = await runGenerator({ commandLine: "npm run generate", root, args, generate: composeRepository, print });
  return { code, text };
}
