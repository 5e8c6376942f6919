import { readFileSync } from "node:fs";
import { buildSchema, getNamedType, type GraphQLField, type GraphQLObjectType, isObjectType } from "graphql";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Platform, startPlatform } from "./platform.ts";

const schema = buildSchema(readFileSync(new URL("../../supergraph/api.graphql", import.meta.url), "utf8"));
const stepsMax = 6;
/** What each root field asks for that has to be given one: rows of Ada, so that paths begin where something is private. */
const beginnings: Record<string, string> = { user: "(id: 1)", comment: "(id: 1)", product: '(sku: "PRINT-0001")' };
const secrets = "id email prefs { locale } orders(first: 3) { id }";

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  const ofAda = `{ user(id: 1) { posts(first: 1) { id } orders(first: 1) { id } } }`;
  const { user } = (await platform.ask(ofAda, { token: await platform.tokenOf("1") })).body.data;
  beginnings["post"] = `(id: "${user.posts[0].id}")`;
  beginnings["order"] = `(id: "${user.orders[0].id}")`;
});
afterAll(() => platform.stop());

const paths = pathsTo(schema.getQueryType() as GraphQLObjectType, "User", []);

test("there are many ways to a user", () => {
  expect(paths.length).toBeGreaterThan(15);
  expect(paths).toContainEqual(["comments", "nodes", "post", "author"]);
});

test.each(paths.map((path) => [path.join(" → "), path] as const))(
  "%s shows nothing of others that is private",
  async (_, path) => {
    for (const token of [undefined, await platform.tokenOf("2")]) {
      const { body } = await platform.ask(toQuery(path), token === undefined ? {} : { token });
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

test("a draft is seen through no path but its author's", async () => {
  const ada = await platform.tokenOf("1");
  const create = `mutation { createPost(input: { title: "Not yet" }) { post { id } } }`;
  const { body } = await platform.ask(create, { token: ada });
  const { id } = body.data.createPost.post;
  const remark = `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }`;
  const added = await platform.ask(remark, {
    token: ada,
    variables: { input: { postId: id, body: "A note to myself." } },
  });
  const commentId = added.body.data.addComment.comment.id;
  const look = `{ post(id: ${id}) { title } comment(id: ${commentId}) { post { title } } user(id: 1) { posts(first: 100) { id } } }`;
  for (const token of [undefined, await platform.tokenOf("2")]) {
    const seen = (await platform.ask(look, token === undefined ? {} : { token })).body.data;
    expect(seen).toMatchObject({ post: null, comment: { post: null } });
    expect(seen.user.posts).not.toContainEqual({ id });
    expect((await platform.rest("GET", `/v1/posts/${id}`, token === undefined ? {} : { token })).status).toBe(404);
  }
  expect((await platform.ask(look, { token: ada })).body.data.comment.post.title).toBe("Not yet");
  expect((await platform.rest("GET", `/v1/posts/${id}`, { token: ada })).status).toBe(200);
});

test("headers that say who somebody is mean nothing", async () => {
  const headers = { "x-user-id": "1", "x-forwarded-user": "1", "x-scopes": "users:read:private", cookie: "user=1" };
  const graph = await platform.ask("{ me { id } user(id: 1) { email } }", { headers });
  expect(graph.body.data).toEqual({ me: null, user: { email: null } });
  expect((await platform.rest("GET", "/v1/users/1", { headers })).body.email).toBeNull();
  expect((await platform.rest("GET", "/v1/orders", { headers })).status).toBe(401);
});

test("a scope opens what it says, and no more", async () => {
  const token = await platform.tokenOf("2", ["users:read:private"]);
  const { body } = await platform.ask("{ user(id: 1) { email orders { id } } }", { token });
  expect(body.data.user).toEqual({ email: "ada.lovelace@example.org", orders: null });
});

/** Every way of at most `stepsMax` fields from a type to a type, no type twice but the goal. */
function pathsTo(type: GraphQLObjectType, goal: string, seen: readonly string[]): readonly (readonly string[])[] {
  if (type.name === goal) return [[]];
  if (seen.length >= stepsMax || seen.includes(type.name)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const next = objectOf(field);
    return next ? pathsTo(next, goal, [...seen, type.name]).map((rest) => [field.name, ...rest]) : [];
  });
}

function objectOf(field: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const type = getNamedType(field.type);
  return isObjectType(type) ? type : undefined;
}

function toQuery(path: readonly string[]): string {
  const [root = "", ...rest] = path;
  return `{ ${root}${beginnings[root] ?? ""} ${rest.map((field) => `{ ${field} `).join("")}{ ${secrets} }${" }".repeat(rest.length)} }`;
}

interface SeenUser {
  readonly id: string;
  readonly email: unknown;
}

function collectUsers(value: unknown): readonly SeenUser[] {
  if (Array.isArray(value)) return value.flatMap(collectUsers);
  if (typeof value !== "object" || value === null) return [];
  return "email" in value ? [value as SeenUser] : Object.values(value).flatMap(collectUsers);
}
