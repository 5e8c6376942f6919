import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { readCodegenConfig } from "../scripts/generate/codegen-config.ts";
import { generateRepository } from "../scripts/generate.ts";
import { generateResolverTypes } from "../scripts/generate/resolver-types.ts";
import { composeRepository, composeSubgraphs } from "../supergraph/compose.ts";
import { printCompositionError } from "../supergraph/composition/composition-errors.ts";
import { runGenerator } from "../supergraph/composition/generator-command.ts";
import { findDocumentProblems } from "../supergraph/documents/openapi-sources.ts";
import {
  contractProblems,
  documentedFiles,
  type Files,
  invalidContract,
  lineOf,
  sampleFiles,
  sourcesOf,
  userDocumentsFile,
  withChange,
  writeDocumentedRepository,
  writeFiles,
  writeRepository,
} from "./supergraph/repository-fixture.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const users = "services/users/schema.graphql";
const posts = "services/posts/schema.graphql";
const config = { mappers: { User: "../model.ts#User" }, contextType: "./context.ts#Context" };

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

test("a missing schema fails and names its owner", () => {
  const { [posts]: _, ...without } = sampleFiles;
  expect(errorsOf(without)).toMatchObject([{ code: "SCHEMA_MISSING", owner: "@tributary/posts-team", file: posts }]);
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

test("the problems of all files of a contract are reported at once, with place and owner", async () => {
  const { code, text } = await run(writeRepository({ ...sampleFiles, ...invalidContract }));
  expect(code).toBe(1);
  for (const problem of contractProblems) expect(text).toMatch(problem);
  expect(text).not.toContain("wrote");
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
  expect(await run(root, "--check")).toEqual({ code: 0, text: "" });
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

test("with a composition error the supergraph remains, and the exit code is 1", async () => {
  const root = writeRepository(sampleFiles);
  await run(root);
  const before = readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8");
  writeFiles(root, withChange(sampleFiles, users, "role: Role!", "role: Roll!"));
  const { code, text } = await run(root);
  expect(code).toBe(1);
  expect(text).toContain(`${users}:23:9 (@tributary/users-team) INVALID_GRAPHQL`);
  expect(readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8")).toBe(before);
});

test("composition fails if one service has no documents while others do", async () => {
  const { [userDocumentsFile]: _, ...others } = documentedFiles;
  expect(await generateRepository(writeDocumentedRepository(others))).toMatchObject({
    ok: false,
    errors: [
      { code: "DOCUMENTS_MISSING", file: userDocumentsFile, message: expect.stringContaining("Export documents =") },
    ],
  });
});

test("composition fails for a route without a document, or with a document of other parameters", async () => {
  const files = withChange(
    withChange(documentedFiles, userDocumentsFile, "getUser:", "findUser:"),
    userDocumentsFile,
    "role:",
    "rank:",
  );
  const generation = await generateRepository(writeDocumentedRepository(files));
  expect(generation.ok ? [] : generation.errors.map(({ message }) => message)).toEqual([
    "Route listUsers: its document lacks the query parameter role (v1).",
    "Route listUsers: its document has a query parameter rank that the route does not declare (v1).",
    "Route getUser: it has no document (v1).",
  ]);
});

test("a route that lacks its document in several versions is one problem", () => {
  const route = {
    id: "listUsers",
    method: "GET",
    path: "/users",
    versions: [1, 2],
    cache: "none",
    summary: "Users.",
  } as const;
  const documents = { tag: { name: "Users", description: "Users." }, operations: {} };
  const source = { name: "users", owner: "@tributary/users-team", file: userDocumentsFile, routes: [route], documents };
  expect(findDocumentProblems([source]).map(({ message }) => message)).toEqual([
    "Route listUsers: it has no document (v1, v2).",
  ]);
});

test("the description of the graph is that of the supergraph and of the API schema", () => {
  const { supergraphSdl, apiSdl } = composed(sampleFiles);
  for (const sdl of [supergraphSdl, apiSdl])
    expect(buildSchema(sdl, { assumeValidSDL: true }).description).toMatch(/^Users, their posts/);
});

test("one command generates the supergraph and every service's resolver types", async () => {
  const generation = await generateRepository(writeRepository(sampleFiles));
  expect(generation.ok && generation.files.map(({ path }) => path)).toEqual([
    "supergraph/supergraph.graphql",
    "supergraph/api.graphql",
    "supergraph/routes.json",
    "services/users/src/graphql/schema-types.ts",
    "services/posts/src/graphql/schema-types.ts",
    "services/comments/src/graphql/schema-types.ts",
    "services/orders/src/graphql/schema-types.ts",
    "supergraph/documents.json",
  ]);
});

test("the gateway's README gets its own variables, and editors the JSON Schema of its settings", async () => {
  const readme = "Before.\n<!-- BEGIN generated by `npm run generate` -->\nstale\n<!-- END generated -->\nAfter.\n";
  const gateway = { "gateway/README.md": readme, "docs/variables.md": "| `PORT` | `4000` |\n" };
  const generation = await generateRepository(writeRepository({ ...sampleFiles, ...gateway }));
  const files = new Map(generation.ok ? generation.files.map(({ path, content = "" }) => [path, content]) : []);
  const table = files.get("gateway/README.md")?.split("\n") ?? [];
  expect(table).toContainEqual(expect.stringMatching(/^\| `SUPERGRAPH_POLL_MS` \| `2000` \| 20 to 3600000 \| the /));
  expect(table).not.toContainEqual(expect.stringMatching(/`PORT`|stale/));
  expect([table[0], ...table.slice(-2)]).toEqual(["Before.", "After.", ""]);
  expect(JSON.parse(files.get("gateway/gateway.schema.json") ?? "")).toMatchObject({ properties: { errors: {} } });
});

test("parts with errors are reported together, and the files of the other parts are generated", async () => {
  const invalid = withChange(documentedFiles, users, "role: Role!", "role: Roll!");
  const root = writeDocumentedRepository({
    ...withChange(invalid, userDocumentsFile, "getUser:", "findUser:"),
    "services/posts/codegen.json": '{ "contextType": 1 }',
  });
  const result = await generateRepository(root);
  expect(result.ok ? [] : result.errors.map(({ code, file }) => [code, file])).toEqual([
    ["INVALID_GRAPHQL", users],
    ["CODEGEN_INVALID", "services/posts/codegen.json"],
    ["DOCUMENTS_INVALID", userDocumentsFile],
  ]);
  expect(result.files?.map(({ path }) => path)).toEqual([
    "supergraph/routes.json",
    "services/comments/src/graphql/schema-types.ts",
    "services/orders/src/graphql/schema-types.ts",
    "supergraph/documents.json",
  ]);
});

test("a codegen.json that maps an unknown type is reported with its file and owner", async () => {
  const root = writeRepository({
    ...sampleFiles,
    "services/users/codegen.json": '{ "mappers": { "Usr": "../model.ts#User" } }',
  });
  expect(await generateRepository(root)).toMatchObject({
    ok: false,
    errors: [
      {
        code: "CODEGEN_INVALID",
        message: "codegen.json maps Usr, but schema.graphql does not define this type.",
        file: "services/users/codegen.json",
        owner: "@tributary/users-team",
      },
    ],
  });
});

test("a custom scalar without a TypeScript type is rejected", async () => {
  await expect(generateResolverTypes("scalar Money\ntype Query { a: Money }", {})).rejects.toThrow("Money");
});

test("a directive that a schema defines has no types: no resolver reads it", async () => {
  const sdl = "type Query { a: ID NOTE }";
  const marked = `directive @note(text: String!) on FIELD_DEFINITION ${sdl.replace("NOTE", '@note(text: "b")')}`;
  expect(await generateResolverTypes(marked, {})).toBe(await generateResolverTypes(sdl.replace("NOTE", ""), {}));
});

test("the generated types compile with the repository's compiler options, the mapped model and the context", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  expect(compile({ ...service, "src/graphql/schema-types.ts": types })).toBe("");
});

test("a schema with a union and an interface has types that compile", async () => {
  const sdl =
    "type Query { first: Item named: Named }\nunion Item = A | B\ninterface Named { n: ID }\ntype A implements Named { n: ID }\ntype B { b: ID }";
  expect(compile({ "src/graphql/schema-types.ts": await generateResolverTypes(sdl, {}) })).toBe("");
});

test("a field that the model does not have requires a resolver, and a root field always does", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  for (const [line, missing] of [
    ["    email: (user) => user.name,\n", /'email' is missing/],
    ["    user: (_, { id }, context) => context.load(id),\n", /'user' is missing/],
  ] as const) {
    const wrong = withChange(service, "src/graphql/resolvers.ts", line, "");
    expect(compile({ ...wrong, "src/graphql/schema-types.ts": types })).toMatch(missing);
  }
});

test("a resolver that returns another type than the schema declares does not compile", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  const wrong = withChange(service, "src/graphql/resolvers.ts", "user.createdAt", "user.createdAt.getTime()");
  expect(compile({ ...wrong, "src/graphql/schema-types.ts": types })).toContain("resolvers.ts");
});

test.each([
  ['{ "mapper": {} }', 'Unrecognized key: "mapper"'],
  ['{ "mappers": { "User": 1 } }', /has to be a reference like .*at mappers.User/s],
  ['{ "contextType": 1 }', /has to be a reference like .*at contextType/s],
  ["{", "JSON"],
])("codegen.json %s is rejected", (text, reason) => {
  expect(() => readCodegenConfig(text)).toThrow(reason);
});

const service: Files = {
  "src/model.ts":
    'export interface User { readonly id: string; readonly name: string; readonly createdAt: Date; readonly role: "READER" | "AUTHOR" }\n',
  "src/graphql/context.ts":
    'import type { User } from "../model.ts";\nexport interface Context { load(id: string): Promise<User | undefined>; list(role: string | null | undefined): readonly User[] }\n',
  "src/graphql/resolvers.ts": `import type { Resolvers } from "./schema-types.ts";
export const resolvers: Resolvers = {
  Query: {
    user: (_, { id }, context) => context.load(id),
    users: (_, { first, role }, context) => (first > 1 ? context.list(role) : [null, undefined]),
  },
  Mutation: {
    createUser: () => null,
  },
  User: {
    __resolveReference: ({ id }, context) => context.load(id),
    email: (user) => user.name,
    nickname: (user) => user.name,
    createdAt: (user) => user.createdAt,
  },
};
`,
};

/** The compiler's errors for files with the repository's options and packages; "" if there are none. */
function compile(files: Files): string {
  const tsconfig = {
    extends: join(repository, "tsconfig.json"),
    compilerOptions: { types: [] },
    include: ["src"],
    exclude: [],
  };
  const root = writeRepository({
    ...files,
    "tsconfig.json": JSON.stringify(tsconfig),
    "package.json": '{ "type": "module" }',
  });
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  try {
    execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", root], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return String((error as { readonly stdout?: unknown }).stdout);
  }
}

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
  const code = await runGenerator({ root, args, generate: composeRepository, print });
  return { code, text };
}
