import { afterAll, beforeAll, expect, test } from "vitest";
import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { TestService } from "@tributary/kit/testing/service";
import { postFields } from "../src/model.ts";
import { addPost, startPosts } from "./fixtures.ts";

let posts: TestService;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts.stop());

/** The callers. The post belongs to user 1. */
const callers = {
  anonymous: undefined,
  author: { id: "1", scopes: ["posts:write"] },
  authorWithoutScope: { id: "1", scopes: [] },
  anotherUser: { id: "2", scopes: ["posts:write"] },
  reader: { id: "3", scopes: ["posts:read:all"] },
  keeper: { id: "3", scopes: ["posts:write:all"] },
} as const;
type Caller = keyof typeof callers;

/** The outcome for a caller: `yes` or the error code. A hidden post is NOT_FOUND: null in GraphQL, 404 in REST. */
type Outcome = "yes" | ErrorCode;
type Row = Readonly<Record<Caller, Outcome>>;

const everyCaller: Row = {
  anonymous: "yes",
  author: "yes",
  authorWithoutScope: "yes",
  anotherUser: "yes",
  reader: "yes",
  keeper: "yes",
};
const hidden: Row = {
  anonymous: "NOT_FOUND",
  author: "yes",
  authorWithoutScope: "yes",
  anotherUser: "NOT_FOUND",
  reader: "yes",
  keeper: "NOT_FOUND",
};
const writing = {
  anonymous: "UNAUTHENTICATED",
  author: "yes",
  authorWithoutScope: "FORBIDDEN",
  reader: "FORBIDDEN",
} as const;
const writingHidden: Row = { ...writing, anotherUser: "NOT_FOUND", keeper: "yes" };
const writingShown: Row = { ...writing, anotherUser: "FORBIDDEN", keeper: "yes" };

const whoMay = {
  "read PUBLISHED": everyCaller,
  "read DRAFT": hidden,
  "read ARCHIVED": hidden,
  "refer PUBLISHED": everyCaller,
  "refer DRAFT": hidden,
  "refer ARCHIVED": hidden,
  "create DRAFT": { ...writing, anotherUser: "yes", keeper: "FORBIDDEN" },
  "update PUBLISHED": writingShown,
  "update DRAFT": writingHidden,
  "update ARCHIVED": writingHidden,
  "publish DRAFT": writingHidden,
  "publish ARCHIVED": writingHidden,
  "archive PUBLISHED": writingShown,
} as const satisfies Readonly<Record<string, Row>>;

type Verb = "read" | "refer" | "create" | "update" | "publish" | "archive";
type Send = (id: string, token: string | undefined) => Promise<Outcome>;

/** The requests for each endpoint. Only GraphQL has entity references. */
const endpoints: Readonly<Record<"graphql" | "v1" | "v2", Readonly<Partial<Record<Verb, Send>>>>> = {
  graphql: {
    read: sendGraphql(`query ($id: ID!) { found: post(id: $id) { id title content { text } } }`),
    refer: (id, token) => {
      const query = `query ($all: [_Any!]!) { found: _entities(representations: $all) { ... on Post { id title content { text } } } }`;
      return outcomeOfGraphql(query, { all: [{ __typename: "Post", id }] }, token);
    },
    create: sendGraphql(`mutation { found: createPost(input: { title: "New" }) { post { id } } }`),
    update: sendGraphql(
      `mutation ($id: ID!) { found: updatePost(input: { id: $id, title: "Changed" }) { post { id } } }`,
    ),
    publish: sendGraphql(`mutation ($id: ID!) { found: publishPost(input: { id: $id }) { post { id } } }`),
    archive: sendGraphql(`mutation ($id: ID!) { found: archivePost(input: { id: $id }) { post { id } } }`),
  },
  v1: restEndpoint("v1", { published: true }, { published: false }),
  v2: restEndpoint("v2", { status: "PUBLISHED" }, { status: "ARCHIVED" }),
};

for (const [deed, row] of Object.entries(whoMay)) {
  const [verb, status] = deed.split(" ") as [Verb, "PUBLISHED" | "DRAFT" | "ARCHIVED"];
  test(`${deed} has the expected outcome for each caller, through every endpoint`, async () => {
    for (const [endpoint, verbs] of Object.entries(endpoints)) {
      const send = verbs[verb];
      if (send === undefined) continue;
      const outcomes: Partial<Record<Caller, Outcome>> = {};
      for (const caller of Object.keys(callers) as Caller[]) {
        const id = await addPost(posts, status);
        outcomes[caller] = await send(id, await tokenOf(caller));
      }
      expect([endpoint, outcomes]).toEqual([endpoint, row]);
    }
  });
}

test("a rejected write changes nothing", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const row = async () => {
    const text = "select title, status, row_version from posts where id = $1";
    return (await posts.database.database.rows("row", text, [id]))[0];
  };
  const before = await row();
  for (const { update, archive } of Object.values(endpoints)) {
    await update?.(id, await tokenOf("anotherUser"));
    await archive?.(id, await tokenOf("anonymous"));
  }
  expect(before).toMatchObject({ title: "Sample post", status: "PUBLISHED" });
  expect(await row()).toEqual(before);
});

test("both endpoints list the same posts for every caller and status", async () => {
  for (const caller of Object.keys(callers) as Caller[]) {
    const token = await tokenOf(caller);
    for (const status of ["PUBLISHED", "DRAFT", "ARCHIVED"]) {
      const query = `query ($status: PostStatus) { posts(first: 100, status: $status, authorId: 1) { nodes { id } } }`;
      const { data, errors } = await posts.graphql(query, { status }, token);
      const rest = await posts.rest("GET", `/v1/users/1/posts?limit=100&status=${status}`, bearing(token));
      const second = await posts.rest("GET", `/v2/users/1/posts?limit=100&status=${status}`, bearing(token));
      const ids = errors ? errors[0]?.extensions.code : idsOf(data.posts.nodes);
      const restIds = rest.status === 401 ? "UNAUTHENTICATED" : idsOf(rest.body);
      const secondIds = second.status === 401 ? "UNAUTHENTICATED" : idsOf(second.body.data);
      expect([caller, status, restIds, secondIds]).toEqual([caller, status, ids, ids]);
    }
  }
});

test("User.posts shows only published posts, for every caller", async () => {
  const query = `{ _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { posts(first: 100) { status } } } }`;
  for (const caller of Object.keys(callers) as Caller[]) {
    const { data } = await posts.graphql(query, {}, await tokenOf(caller));
    const statuses = new Set(data._entities[0].posts.map(({ status }: { status: string }) => status));
    expect([caller, ...statuses]).toEqual([caller, "PUBLISHED"]);
  }
});

test("each endpoint shows the changes of the other, with one row version", async () => {
  const token = await tokenOf("author");
  const created = await posts.rest("POST", "/v1/posts", {
    ...bearing(token),
    body: { title: "Through REST", body: "Text" },
  });
  const { id } = created.body;
  const seen = await posts.graphql(
    `query ($id: ID!) { post(id: $id) { title body status author { id } createdAt } }`,
    { id },
    token,
  );
  const { title, body, authorId, createdAt } = created.body;
  expect(seen.data.post).toEqual({ title, body, status: "DRAFT", author: { id: authorId }, createdAt });
  await posts.graphql(`mutation ($id: ID!) { publishPost(input: { id: $id }) { post { id } } }`, { id }, token);
  const headers = { "if-match": created.headers.get("etag") ?? "" };
  expect(
    (await posts.rest("PATCH", `/v1/posts/${id}`, { ...bearing(token), body: { title: "Late" }, headers })).status,
  ).toBe(412);
});

test("a post in version 2 equals the GraphQL post", async () => {
  const token = await tokenOf("author");
  const query = `query ($id: ID!) { post(id: $id) { id ${postFields.names.join(" ")} status content { format text } author { id } createdAt updatedAt publishedAt } }`;
  for (const id of ["1", "2", "3", "4", "6"]) {
    const { post } = (await posts.graphql(query, { id }, token)).data;
    const author = { id: post.author.id, href: `/v2/users/${post.author.id}` };
    expect((await posts.rest("GET", `/v2/posts/${id}`, bearing(token))).body).toEqual({ ...post, author });
  }
});

test("both endpoints reject the same input with the same code and problems", async () => {
  const token = await tokenOf("author");
  for (const [version, input] of [
    ["v1", { title: "x".repeat(201), body: "\u0007" }],
    ["v2", { title: "", content: { format: "PLAIN", text: "\u0007" } }],
  ] as const) {
    const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
    const { errors } = await posts.graphql(mutation, { input }, token);
    const { status, body } = await posts.rest("POST", `/${version}/posts`, { ...bearing(token), body: input });
    expect([status, body.type]).toEqual([422, "/problems/bad-user-input"]);
    expect(errors?.[0]).toMatchObject({
      message: body.detail,
      extensions: { code: "BAD_USER_INPUT", problems: body.errors },
    });
  }
});

/** A post's text has at most 60,000 characters and 60,000 bytes as JSON, so that it fits into a REST body of 64 KiB. */
const acceptedTexts: Readonly<Record<string, string>> = {
  "60,000 characters": "x".repeat(60_000),
  "60,000 bytes in 15,000 characters": "🎉".repeat(15_000),
  "60,000 bytes in 30,000 escapes": '"'.repeat(30_000),
};

test.each(Object.entries(acceptedTexts))(
  "every endpoint accepts a text of %s, and rejects a longer one",
  async (_, text) => {
    expect(await writeEverywhere(text)).toEqual(Array.from({ length: 6 }, () => "accepted"));
    expect(await writeEverywhere(`${text}x`)).toEqual([
      "422 #/body length",
      "422 #/content/text length",
      "422 #/body length",
      "422 #/content/text length",
      "BAD_USER_INPUT #/body length",
      "BAD_USER_INPUT #/content/text length",
    ]);
  },
);

function tokenOf(name: Caller): Promise<string | undefined> {
  const caller = callers[name];
  return caller === undefined ? Promise.resolve(caller) : posts.issuer.token(caller.id, caller.scopes);
}

function bearing(token: string | undefined): { token?: string } {
  return token === undefined ? {} : { token };
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

function sendGraphql(query: string): Send {
  return (id, token) => outcomeOfGraphql(query, { id }, token);
}

async function outcomeOfGraphql(query: string, variables: object, token: string | undefined): Promise<Outcome> {
  const { data, errors } = await posts.graphql(query, variables, token);
  if (errors) return (errors[0]?.extensions.code ?? "INTERNAL_SERVER_ERROR") as ErrorCode;
  const [found] = [data.found].flat();
  return found === null ? "NOT_FOUND" : "yes";
}

function restEndpoint(
  version: "v1" | "v2",
  published: object,
  archived: object,
): Readonly<Partial<Record<Verb, Send>>> {
  const send = (method: string, body?: object) => (id: string, token: string | undefined) =>
    outcomeOfRest(method, `/${version}/posts/${id}`, token, body);
  return {
    read: send("GET"),
    create: (_id, token) => outcomeOfRest("POST", `/${version}/posts`, token, { title: "New" }),
    update: send("PATCH", { title: "Changed" }),
    publish: send("PATCH", published),
    archive: send("PATCH", archived),
  };
}

async function outcomeOfRest(method: string, path: string, token: string | undefined, body?: object): Promise<Outcome> {
  const response = await posts.rest(method, path, {
    ...bearing(token),
    ...(body === undefined ? {} : { body }),
    headers: { "if-match": "*" },
  });
  if (response.status < 300) return "yes";
  const code = response.body.type.replace("/problems/", "").replaceAll("-", "_").toUpperCase() as ErrorCode;
  expect(response.status).toBe(statusOf[code]);
  return code;
}

/** Sends the text in a new post and in a change, to both REST versions and to GraphQL. */
async function writeEverywhere(text: string): Promise<readonly string[]> {
  const token = await posts.issuer.token("1", ["posts:write"]);
  const content = { format: "PLAIN", text };
  const id = await addPost(posts, "DRAFT");
  const send = async (method: string, path: string, body: object) => {
    const response = await posts.rest(method, path, { token, body, headers: { "if-match": "*" } });
    return response.status < 300 ? "accepted" : `${response.status} ${describe(response.body.errors)}`;
  };
  const mutate = async (input: object) => {
    const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
    const { errors } = await posts.graphql(mutation, { input }, token);
    const extensions = errors?.[0]?.extensions;
    return extensions ? `${extensions.code} ${describe(extensions.problems)}` : "accepted";
  };
  return [
    await send("POST", "/v1/posts", { title: "New", body: text }),
    await send("POST", "/v2/posts", { title: "New", content }),
    await send("PATCH", `/v1/posts/${id}`, { body: text }),
    await send("PATCH", `/v2/posts/${id}`, { content }),
    await mutate({ title: "New", body: text }),
    await mutate({ title: "New", content }),
  ];
}

function describe(problems: readonly { readonly pointer: string; readonly code: string }[] = []): string {
  return problems.map(({ pointer, code }) => `${pointer} ${code}`).join();
}
