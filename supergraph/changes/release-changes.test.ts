import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { generateReleaseChanges } from "./release-changes.ts";

const supergraph = `enum join__Graph { USERS @join__graph(name: "users", url: "http://users") }`;
const route = { id: "listUsers", method: "GET", path: "/users", versions: [2], query: ["limit"], service: "users" };
const released = {
  "supergraph/supergraph.graphql": supergraph,
  "supergraph/api.graphql": `type Query { "All." users(role: String): [ID] me: ID }`,
  "supergraph/routes.json": JSON.stringify({ routes: [route, { ...route, id: "getUser", path: "/users/:id" }] }),
  "supergraph/openapi/v2.json": JSON.stringify({
    paths: { "/users": { get: { operationId: "listUsers", responses: { 200: {} } } } },
    components: { schemas: { User: { properties: { id: {} } } } },
  }),
};
const now = {
  "supergraph/supergraph.graphql": supergraph,
  "supergraph/api.graphql": `type Query { "Each." users(role: String, first: Int): [ID] node: Node } type Node { id: ID }
    directive @hint(text: String) on FIELD`,
  "supergraph/routes.json": JSON.stringify({ routes: [{ ...route, query: ["limit", "role"] }] }),
  "supergraph/openapi/v2.json": JSON.stringify({
    paths: {
      "/users": {
        get: {
          operationId: "listUsers",
          parameters: [{ $ref: "#/components/parameters/Role" }],
          responses: { 200: {}, 429: {} },
        },
        post: { operationId: "createUser", responses: { 201: {} } },
      },
    },
    components: {
      parameters: { Role: { in: "query", name: "role" } },
      schemas: { User: { properties: { id: {}, name: {} } }, NewUser: { properties: { name: {} } } },
    },
  }),
};

test("the changes since the release are listed for both APIs, breaking ones first, without parts of what is new", async () => {
  const root = mkdtempSync(join(tmpdir(), "release-changes-"));
  writeFileSync(join(root, "package.json"), '{"version":"1.2.3"}');
  expect(await generate(root, now)).toBeUndefined();
  for (const [path, content] of Object.entries(released)) write(root, path.replace("/", "/released/"), content);
  expect(await generate(root, now)).toEqual({
    since: "1.2.3",
    graphql: [
      { level: "breaking", message: "Field `me` was removed from object type `Query`." },
      { level: "safe", message: "Directive `hint` was added." },
      { level: "safe", message: "Type `Node` was added." },
      { level: "safe", message: "Field `node` was added to object type `Query`." },
      { level: "safe", message: "Argument `first: Int` added to field `Query.users`." },
    ],
    rest: [
      { level: "breaking", message: "Route GET /users/:id was removed." },
      { level: "safe", message: "`GET /users` in version 2 has the new query parameter `role`." },
      { level: "safe", message: "`GET /users` in version 2 has the new status 429." },
      { level: "safe", message: "`POST /users` in version 2 was added." },
      { level: "safe", message: "`User` in version 2 has the new member `name`." },
      { level: "safe", message: "`NewUser` in version 2 was added." },
    ],
  });
});

test("what was removed from a type or field with a new description, interface or member is listed", async () => {
  const graphql = await listGraphqlChanges(
    `type Query { user(id: ID): User any: Any } type User { id: ID name: String } union Any = User interface Named { name: String }`,
    `type Query { "By id." user: User any: Any } "A user." type User implements Named { name: String }
      union Any = User | Bot type Bot { id: ID } interface Named { name: String }`,
  );
  expect(graphql).toEqual([
    { level: "breaking", message: "Argument `id: ID` was removed from field `Query.user`." },
    { level: "breaking", message: "Field `id` was removed from object type `User`." },
    { level: "dangerous", message: "`User` object implements `Named` interface." },
    { level: "dangerous", message: "Member `Bot` was added to Union type `Any`." },
    { level: "safe", message: "Type `Bot` was added." },
  ]);
});

test("apostrophes in quoted texts remain", async () => {
  const graphql = await listGraphqlChanges(
    `type Query { a: ID b: ID @deprecated(reason: "It isn't set") }`,
    `type Query { a: ID b: ID @deprecated(reason: "Don't use it") }`,
  );
  expect(graphql).toEqual([
    {
      level: "safe",
      message: "Deprecation reason on field `Query.b` has changed from 'It isn't set' to 'Don't use it'.",
    },
  ]);
});

test("each deprecation, its end and its other reason are one change", async () => {
  const deprecate = (usage: string) => `type Query { a(x: ID ${usage}, i: I, e: E): ID b: ID ${usage} }
    enum E { A B ${usage} } input I { a: ID b: ID ${usage} }`;
  const [first, second] = [deprecate('@deprecated(reason: "One")'), deprecate('@deprecated(reason: "Two")')];
  const messagesOf = async (before: string, after: string) =>
    ((await listGraphqlChanges(before, after)) as readonly object[]).map((change) => Object.values(change).join(": "));
  expect(await messagesOf(deprecate(""), first)).toEqual([
    "safe: Directive `deprecated` was added to argument `x` of field `a` in type `Query`.",
    "safe: Field `Query.b` is deprecated.",
    "safe: Enum value `E.B` was deprecated with reason `One`.",
    "safe: Directive `deprecated` was added to input field `b` in input object `I`.",
  ]);
  expect(await messagesOf(first, second)).toEqual([
    "safe: Deprecation reason of `Query.a.x` has changed.",
    "safe: Deprecation reason on field `Query.b` has changed from `One` to `Two`.",
    "safe: Enum value `E.B` deprecation reason changed from `One` to `Two`.",
    "safe: Deprecation reason of `I.b` has changed.",
  ]);
  expect(await messagesOf(first, deprecate(""))).toEqual([
    "safe: Directive `deprecated` was removed from argument `x` of field `a` in type `Query`.",
    "safe: Field `Query.b` is no longer deprecated.",
    "safe: Deprecation reason was removed from enum value `E.B`.",
    "safe: Directive `deprecated` was removed from input field `b` in input object `I`.",
  ]);
});

async function listGraphqlChanges(before: string, after: string): Promise<unknown> {
  const root = mkdtempSync(join(tmpdir(), "release-changes-"));
  writeFileSync(join(root, "package.json"), '{"version":"1.2.3"}');
  const files = { ...released, "supergraph/api.graphql": before };
  for (const [path, content] of Object.entries(files)) write(root, path.replace("/", "/released/"), content);
  const changes = await generate(root, { ...files, "supergraph/api.graphql": after });
  return (changes as { readonly graphql: unknown }).graphql;
}

async function generate(root: string, files: Readonly<Record<string, string>>): Promise<unknown> {
  const generated = Object.entries(files).map(([path, content]) => ({ path, content }));
  const [file] = await generateReleaseChanges(root, [], generated);
  return file && JSON.parse(file.content ?? "");
}

function write(root: string, path: string, content: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
