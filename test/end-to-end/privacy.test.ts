import { readFileSync } from "node:fs";
import { buildSchema, getNamedType, type GraphQLField, type GraphQLObjectType, isObjectType } from "graphql";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Platform, startPlatform } from "./platform.ts";

const schema = buildSchema(readFileSync(new URL("../../supergraph/api.graphql", import.meta.url), "utf8"));
const fieldsMax = 6;
/** Arguments of root fields. They select Ada's rows, so that the paths lead to private data. */
const rootArguments: Record<string, string> = { user: "(id: 1)", comment: "(id: 1)", product: '(sku: "PRINT-0001")' };
const privateFields = "id email prefs { locale } orders(first: 3) { id }";

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  const adasRows = `{ user(id: 1) { posts(first: 1) { id } orders(first: 1) { id } } }`;
  const { user } = (await platform.graphql(adasRows, { token: await platform.tokenOf("1") })).body.data;
  rootArguments["post"] = `(id: "${user.posts[0].id}")`;
  rootArguments["order"] = `(id: "${user.orders[0].id}")`;
});
afterAll(() => platform.stop());

const paths = pathsTo(schema.getQueryType() as GraphQLObjectType, "User", []);

test("more than 15 paths of the schema lead to a user", () => {
  expect(paths.length).toBeGreaterThan(15);
  expect(paths).toContainEqual(["comments", "nodes", "post", "author"]);
});

test.each(paths.map((path) => [path.join(" → "), path] as const))(
  "%s returns no private data of other users",
  async (_, path) => {
    for (const token of [undefined, await platform.tokenOf("2")]) {
      const { body } = await platform.graphql(toQuery(path), token === undefined ? {} : { token });
      expect(body.data).toBeDefined();
      const users = collectUsers(body.data);
      for (const user of users.filter(({ id }) => token === undefined || id !== "2")) {
        expect(user).toMatchObject({ email: null, prefs: null, orders: null });
      }
      for (const { extensions } of body.errors ?? [])
        expect(extensions.code).toBe(token ? "FORBIDDEN" : "UNAUTHENTICATED");
    }
  },
);

test("a draft is visible only to its author", async () => {
  const ada = await platform.tokenOf("1");
  const create = `mutation { createPost(input: { title: "Not yet" }) { post { id } } }`;
  const { body } = await platform.graphql(create, { token: ada });
  const { id } = body.data.createPost.post;
  const comment = `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }`;
  const added = await platform.graphql(comment, {
    token: ada,
    variables: { input: { postId: id, body: "A note to myself." } },
  });
  const commentId = added.body.data.addComment.comment.id;
  const query = `{ post(id: ${id}) { title } comment(id: ${commentId}) { post { title } } user(id: 1) { posts(first: 100) { id } } }`;
  for (const token of [undefined, await platform.tokenOf("2")]) {
    const data = (await platform.graphql(query, token === undefined ? {} : { token })).body.data;
    expect(data).toMatchObject({ post: null, comment: { post: null } });
    expect(data.user.posts).not.toContainEqual({ id });
    expect((await platform.rest("GET", `/v1/posts/${id}`, token === undefined ? {} : { token })).status).toBe(404);
  }
  expect((await platform.graphql(query, { token: ada })).body.data.comment.post.title).toBe("Not yet");
  expect((await platform.rest("GET", `/v1/posts/${id}`, { token: ada })).status).toBe(200);
});

test("identity headers and cookies of a client do not authenticate it", async () => {
  const headers = { "x-user-id": "1", "x-forwarded-user": "1", "x-scopes": "users:read:private", cookie: "user=1" };
  const graph = await platform.graphql("{ me { id } user(id: 1) { email } }", { headers });
  expect(graph.body.data).toEqual({ me: null, user: { email: null } });
  expect((await platform.rest("GET", "/v1/users/1", { headers })).body.email).toBeNull();
  expect((await platform.rest("GET", "/v1/orders", { headers })).status).toBe(401);
});

test("a scope grants access to its fields only", async () => {
  const token = await platform.tokenOf("2", ["users:read:private"]);
  const { body } = await platform.graphql("{ user(id: 1) { email orders { id } } }", { token });
  expect(body.data.user).toEqual({ email: "ada.lovelace@example.org", orders: null });
});

/** Every path of at most `fieldsMax` fields from a type to the goal type; no other type occurs twice. */
function pathsTo(type: GraphQLObjectType, goal: string, visited: readonly string[]): readonly (readonly string[])[] {
  if (type.name === goal) return [[]];
  if (visited.length >= fieldsMax || visited.includes(type.name)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const next = objectOf(field);
    return next ? pathsTo(next, goal, [...visited, type.name]).map((rest) => [field.name, ...rest]) : [];
  });
}

function objectOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const type = getNamedType(field.type);
  return isObjectType(type) ? type : undefined;
}

function toQuery(path: readonly string[]): string {
  const [root = "", ...rest] = path;
  return `{ ${root}${rootArguments[root] ?? ""} ${rest.map((field) => `{ ${field} `).join("")}{ ${privateFields} }${" }".repeat(rest.length)} }`;
}

interface UserData {
  readonly id: string;
  readonly email: unknown;
}

function collectUsers(value: unknown): readonly UserData[] {
  if (Array.isArray(value)) return value.flatMap(collectUsers);
  if (typeof value !== "object" || value === null) return [];
  return "email" in value ? [value as UserData] : Object.values(value).flatMap(collectUsers);
}
