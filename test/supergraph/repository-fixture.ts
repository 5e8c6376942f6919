import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { toService } from "../../supergraph/services.ts";
import type { SubgraphSource } from "../../supergraph/subgraphs.ts";

/** File contents by path. */
export type Files = Readonly<Record<string, string>>;

const link =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.14", import: ["@key", "@shareable", "@external", "@requires", "@tag"])\n';

const descriptors = ["users", "posts", "comments", "orders"].map((name, index) => ({
  name,
  description: `Owns ${name}.`,
  team: `@tributary/${name}-team`,
  port: 4001 + index,
}));

/** The services of the sample repository. */
export const sampleServices = descriptors.map((one) => toService({ ...one, scopes: {}, codes: [], seed: false }));

/** A small repository with all four services, each with its entities and a few fields and routes. */
export const sampleFiles: Files = {
  ...Object.fromEntries(descriptors.map((one) => [`services/${one.name}/service.json`, JSON.stringify(one)])),
  "services/users/schema.graphql": `${link}
"A time in UTC."
scalar DateTime @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339")

type Query {
  "One user."
  user(id: ID!): User
  users(first: Int! = 20, role: Role): [User]
}

type Mutation {
  createUser(input: CreateUserInput!): User
}

type User @key(fields: "id") {
  id: ID!
  name: String!
  "Private."
  email: String
  nickname: String @deprecated(reason: "Use name.")
  createdAt: DateTime!
  role: Role!
}

enum Role {
  READER
  AUTHOR
}

input CreateUserInput {
  name: String!
  locale: String! = "en"
  email: String
}
`,
  "services/posts/schema.graphql": `${link}
type Query {
  post(id: ID!): Post
}

type Post @key(fields: "id") {
  id: ID!
  title: String!
  author: User
}

type User @key(fields: "id") {
  id: ID!
  posts(first: Int = 20): [Post]
}
`,
  "services/comments/schema.graphql": `${link}
type Query {
  comment(id: ID!): Comment
}

type Comment @key(fields: "id") {
  id: ID!
  body: String
  post: Post
}

type Post @key(fields: "id") {
  id: ID!
  commentCount: Int
}
`,
  "services/orders/schema.graphql": `${link}
type Query {
  order(id: ID!): Order
}

type Order @key(fields: "id") {
  id: ID!
  customer: User
  total: Money!
}

type Money {
  amountMinor: Int! @tag(name: "internal")
  currency: String!
}

type User @key(fields: "id") {
  id: ID!
  orders: [Order]
}
`,
  "services/users/src/rest/routes.ts": routesFile(
    ["listUsers", "GET", "/users", ["limit", "cursor", "role"]],
    ["getUser", "GET", "/users/:id", []],
    ["createUser", "POST", "/users", []],
  ),
  "services/posts/src/rest/routes.ts": routesFile(["listPostsOfUser", "GET", "/users/:id/posts", ["limit"]]),
  "services/comments/src/rest/routes.ts": routesFile(["getComment", "GET", "/comments/:id", []]),
  "services/orders/src/rest/routes.ts": routesFile(["placeOrder", "POST", "/orders", []]),
};

export const userDocumentsFile = "services/users/src/rest/openapi.ts";

/** The sample repository with an OpenAPI document for each route. */
export const documentedFiles: Files = {
  ...sampleFiles,
  [userDocumentsFile]: documentsOf({
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

/** A contract with a problem in each of its files. */
export const invalidContract: Files = {
  "services/reviews/service.json": `{
  "name": "reviews",
  "team": "@tributary/reviews-team",
  "external": { "url": "http://reviews:4005", "rets": "/api" }
}`,
  "services/reviews/schema.graphql": "type Query {\n  review: Revieww\n}\n",
  "services/reviews/openapi.yaml": `openapi: 3.1.0
info: { title: reviews, version: "1" }
paths:
  /rest/v2/reviews:
    get: { operationId: "", summary: All, responses: { "200": { $ref: "#/components/responses/None" } } }
`,
  "services/reviews/openapi.overlay.yaml":
    "overlay: 1.0.0\ninfo: { title: a, version: '1' }\nactions:\n  - target: $.path\n    remove: true\n",
};

/** In the output of `npm run generate` and `npm run check`. */
export const contractProblems = [
  /services\/reviews\/service.json:1:1 \(@tributary\/reviews-team\) CONTRACT_INVALID\n {2}description is required/,
  /services\/reviews\/service.json:1:1 .*\n {2}port is required/,
  /services\/reviews\/service.json:4:\d+ .*\n {2}external.rets is unknown. The fields are url, /,
  /services\/reviews\/schema.graphql:2:11 \(@tributary\/reviews-team\) .*\n.*Revieww/,
  /services\/reviews\/openapi.yaml:5:\d+ \(@tributary\/reviews-team\) .*\n {2}\$ref .* nothing/,
  /services\/reviews\/openapi.overlay.yaml:4:\d+ \(@tributary\/reviews-team\) .*\n {2}\$.path selects nothing/,
];

export function sourcesOf(files: Files): SubgraphSource[] {
  return sampleServices.map((subgraph) => {
    const file = `${subgraph.folder}/schema.graphql`;
    return Object.assign({ file, sdl: files[file] }, subgraph);
  });
}

/** Replaces a text in one file. Throws if the file does not contain it, so that a test cannot pass without its change. */
export function withChange(files: Files, path: string, from: string, to: string): Files {
  const text = files[path];
  if (!text?.includes(from)) throw new Error(`${path} does not contain ${JSON.stringify(from)}`);
  return { ...files, [path]: text.replace(from, to) };
}

/** Writes the files to a temporary folder, without a git repository (see `commitRepository`), and returns its path. The folder is removed after the test. */
export function writeRepository(files: Files): string {
  const root = mkdtempSync(join(tmpdir(), "tributary-supergraph-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFiles(root, files);
  return root;
}

/** Like `writeRepository`, with the packages that OpenAPI documents import. */
export function writeDocumentedRepository(files: Files): string {
  const root = writeRepository(files);
  symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(root, "node_modules"));
  return root;
}

export function writeFiles(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export function lineOf(files: Files, path: string, text: string): number {
  const index = (files[path] ?? "").split("\n").findIndex((line) => line.includes(text));
  if (index < 0) throw new Error(`${path} does not contain ${JSON.stringify(text)}`);
  return index + 1;
}

function routesFile(...routes: readonly (readonly [string, string, string, readonly string[]])[]): string {
  const lines = routes.map(
    ([id, method, path, query]) =>
      `  { id: "${id}", method: "${method}", path: "${path}", versions: [1], query: ${JSON.stringify(query)}, cache: "none", summary: "${id}" },`,
  );
  return `export const routes = [\n${lines.join("\n")}\n] as const;\n`;
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
