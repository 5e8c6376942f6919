import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generateRepository } from "../../scripts/generate.ts";
import { runCheck } from "../../supergraph/check.ts";
import { writeStaleFiles } from "../../supergraph/composition/generated-files.ts";
import { describeDocumentProblems } from "../../supergraph/documents/openapi-sources.ts";
import { type Files, sampleFiles, withChange, writeFiles, writeRepository } from "../supergraph/repository-fixture.ts";

const users = "services/users/src/rest/openapi.ts";

/** The sample repository with an OpenAPI document for each route. */
const documented: Files = {
  ...sampleFiles,
  [users]: documentsOf({
    listUsers: "query: { limit: z.int().max(100), cursor: z.string(), role: z.string() }",
    getUser: "path: { id: z.string() }",
    createUser: "body: z.strictObject({ name: z.string().max(80) })",
  }),
  "services/posts/src/rest/openapi.ts": documentsOf({
    listPostsOfUser: "path: { id: z.string() }, query: { limit: z.int() }",
  }),
  "services/comments/src/rest/openapi.ts": documentsOf({ getComment: "path: { id: z.string() }" }),
  "services/orders/src/rest/openapi.ts": documentsOf({ placeOrder: "body: z.strictObject({})" }),
};

test("a document that breaks clients fails the check, and names the owner and the route", async () => {
  const text = await check(withChange(documented, users, "max(80)", "max(40)"), 1);
  expect(text).toContain("BREAKING services/users/src/rest/routes.ts:4:5 (@tributary/users-team) DOCUMENT_CHANGED");
  expect(text).toContain("createUser in v1: the body/name has a tighter maxLength\n");
});

test("a document that accepts more input breaks no client", async () => {
  await check(withChange(documented, users, "max(80)", "max(160)"), 0);
});

test("composition fails if one service has no documents while others do", async () => {
  const { [users]: _, ...others } = documented;
  expect(await generateRepository(repositoryOf(others), { partial: false })).toMatchObject({
    ok: false,
    errors: [{ code: "DOCUMENTS_MISSING", file: users, message: expect.stringContaining("Export documents =") }],
  });
});

test("composition fails for a route without a document, or with a document of other parameters", async () => {
  const files = withChange(withChange(documented, users, "getUser:", "findUser:"), users, "role:", "rank:");
  const generation = await generateRepository(repositoryOf(files), { partial: false });
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
  const source = { name: "users", owner: "@tributary/users-team", file: users, routes: [route], documents };
  expect(describeDocumentProblems([source]).map(({ message }) => message)).toEqual([
    "Route listUsers: it has no document (v1, v2).",
  ]);
});

/** Commits the sample in one repository and checks the edited files in another one, as Node imports a file's first version only. */
async function check(edited: Files, code: number): Promise<string> {
  const root = repositoryOf(documented);
  git(root, "init", "-q", "-b", "main");
  const generation = await generateRepository(root, { partial: false });
  if (!generation.ok) throw new Error(generation.errors[0]?.message);
  writeStaleFiles(root, generation.files);
  git(root, "add", "services", "supergraph");
  git(
    root,
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.org",
    "-c",
    "commit.gpgsign=false",
    "commit",
    "-q",
    "-m",
    "Add the sample",
  );
  const now = repositoryOf(edited);
  execFileSync("cp", ["-r", join(root, ".git"), now]);
  let text = "";
  expect(await runCheck({ root: now, args: [], today: "2026-06-01", print: (part) => (text += part) })).toBe(code);
  return text;
}

function repositoryOf(files: Files): string {
  const root = writeRepository({});
  writeFiles(root, files);
  symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(root, "node_modules"));
  return root;
}

function git(root: string, ...args: readonly string[]): void {
  execFileSync("git", ["-C", root, ...args]);
}

function documentsOf(operations: Readonly<Record<string, string>>): string {
  const rest = 'description: "", callers: "everyone", response: { status: 200, description: "" }, examples: []';
  const entries = Object.entries(operations).map(([id, fields]) => `    ${id}: { 1: { ${fields}, ${rest} } },`);
  return [
    'import { z } from "zod";',
    'export const documents = { tag: { name: "Sample", description: "" },',
    `  operations: {\n${entries.join("\n")}\n  },`,
    "};\n",
  ].join("\n");
}
