import { afterAll, beforeAll, expect, test } from "vitest";
import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { TestService } from "@tributary/kit/testing/service";
import { addPost, startPosts } from "./fixtures.ts";

let posts: TestService;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts.stop());

/** Who calls. The post in question is user 1's. */
const callers = {
  nobody: undefined,
  author: { id: "1", scopes: ["posts:write"] },
  authorWithoutScope: { id: "1", scopes: [] },
  anotherUser: { id: "2", scopes: ["posts:write"] },
  reader: { id: "3", scopes: ["posts:read:all"] },
  keeper: { id: "3", scopes: ["posts:write:all"] },
} as const;
type Caller = keyof typeof callers;

/** What a caller gets: `yes`, or the code of the refusal. What is hidden is NOT_FOUND, as null in GraphQL and as 404 in REST. */
type Outcome = "yes" | ErrorCode;
type Row = Readonly<Record<Caller, Outcome>>;

const anybody: Row = {
  nobody: "yes",
  author: "yes",
  authorWithoutScope: "yes",
  anotherUser: "yes",
  reader: "yes",
  keeper: "yes",
};
const hidden: Row = {
  nobody: "NOT_FOUND",
  author: "yes",
  authorWithoutScope: "yes",
  anotherUser: "NOT_FOUND",
  reader: "yes",
  keeper: "NOT_FOUND",
};
const writing = {
  nobody: "UNAUTHENTICATED",
  author: "yes",
  authorWithoutScope: "FORBIDDEN",
  reader: "FORBIDDEN",
} as const;
const writingHidden: Row = { ...writing, anotherUser: "NOT_FOUND", keeper: "yes" };
const writingShown: Row = { ...writing, anotherUser: "FORBIDDEN", keeper: "yes" };

const whoMay = {
  "read PUBLISHED": anybody,
  "read DRAFT": hidden,
  "read ARCHIVED": hidden,
  "refer PUBLISHED": anybody,
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
type Knock = (id: string, token: string | undefined) => Promise<Outcome>;

/** How each door is asked; an entity reference is a way in through GraphQL alone. */
const doors: Readonly<Record<"graphql" | "v1" | "v2", Readonly<Partial<Record<Verb, Knock>>>>> = {
  graphql: {
    read: askGraphql(`query ($id: ID!) { found: post(id: $id) { id title content { text } } }`),
    refer: (id, token) => {
      const query = `query ($all: [_Any!]!) { found: _entities(representations: $all) { ... on Post { id title content { text } } } }`;
      return outcomeOfGraphql(query, { all: [{ __typename: "Post", id }] }, token);
    },
    create: askGraphql(`mutation { found: createPost(input: { title: "New" }) { post { id } } }`),
    update: askGraphql(
      `mutation ($id: ID!) { found: updatePost(input: { id: $id, title: "Changed" }) { post { id } } }`,
    ),
    publish: askGraphql(`mutation ($id: ID!) { found: publishPost(input: { id: $id }) { post { id } } }`),
    archive: askGraphql(`mutation ($id: ID!) { found: archivePost(input: { id: $id }) { post { id } } }`),
  },
  v1: restDoor("v1", { published: true }, { published: false }),
  v2: restDoor("v2", { status: "PUBLISHED" }, { status: "ARCHIVED" }),
};

for (const [deed, row] of Object.entries(whoMay)) {
  const [verb, status] = deed.split(" ") as [Verb, "PUBLISHED" | "DRAFT" | "ARCHIVED"];
  for (const [door, verbs] of Object.entries(doors)) {
    const knock = verbs[verb];
    if (knock === undefined) continue;
    test(`${deed} through ${door} is for whom the table says`, async () => {
      const outcomes: Partial<Record<Caller, Outcome>> = {};
      for (const caller of Object.keys(callers) as Caller[]) {
        const id = await addPost(posts, status);
        outcomes[caller] = await knock(id, await tokenOf(caller));
      }
      expect(outcomes).toEqual(row);
    });
  }
}

test("a refused writer has changed nothing", async () => {
  const id = await addPost(posts, "PUBLISHED");
  const row = async () => {
    const text = "select title, status, row_version from posts where id = $1";
    return (await posts.database.database.rows("row", text, [id]))[0];
  };
  const before = await row();
  for (const { update, archive } of Object.values(doors)) {
    await update?.(id, await tokenOf("anotherUser"));
    await archive?.(id, await tokenOf("nobody"));
  }
  expect(before).toMatchObject({ title: "Of its own", status: "PUBLISHED" });
  expect(await row()).toEqual(before);
});

test("both doors list the same posts for every caller and status", async () => {
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

test("User.posts shows published posts alone, whoever asks", async () => {
  const query = `{ _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { posts(first: 100) { status } } } }`;
  for (const caller of Object.keys(callers) as Caller[]) {
    const { data } = await posts.graphql(query, {}, await tokenOf(caller));
    const statuses = new Set(data._entities[0].posts.map(({ status }: { status: string }) => status));
    expect([caller, ...statuses]).toEqual([caller, "PUBLISHED"]);
  }
});

test("what one door writes the other shows, and both keep one version", async () => {
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

test("a post in version 2 is the graph's, in the graph's words", async () => {
  const token = await tokenOf("author");
  const query = `query ($id: ID!) { post(id: $id) { id title status content { format text } author { id } createdAt updatedAt publishedAt } }`;
  for (const id of ["1", "2", "3", "4", "6"]) {
    const { post } = (await posts.graphql(query, { id }, token)).data;
    const author = { id: post.author.id, href: `/v2/users/${post.author.id}` };
    expect((await posts.rest("GET", `/v2/posts/${id}`, bearing(token))).body).toEqual({ ...post, author });
  }
});

test("both doors refuse the same content with the same code and problems", async () => {
  const token = await tokenOf("author");
  const input = { title: "", content: { format: "PLAIN", text: "\u0007" } };
  const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
  const { errors } = await posts.graphql(mutation, { input }, token);
  const { status, body } = await posts.rest("POST", "/v2/posts", { ...bearing(token), body: input });
  expect([status, body.detail]).toEqual([422, errors?.[0]?.message]);
  expect(body.errors).toEqual(errors?.[0]?.extensions.problems);
});

test("both doors refuse the same input with the same code and problems", async () => {
  const token = await tokenOf("author");
  const input = { title: "x".repeat(201), body: "\u0007" };
  const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;
  const { errors } = await posts.graphql(mutation, { input }, token);
  const { status, body } = await posts.rest("POST", "/v1/posts", { ...bearing(token), body: input });
  expect([status, body.type]).toEqual([422, "/problems/bad-user-input"]);
  expect(errors?.[0]).toMatchObject({
    message: body.detail,
    extensions: { code: "BAD_USER_INPUT", problems: body.errors },
  });
});

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

function askGraphql(query: string): Knock {
  return (id, token) => outcomeOfGraphql(query, { id }, token);
}

async function outcomeOfGraphql(query: string, variables: object, token: string | undefined): Promise<Outcome> {
  const { data, errors } = await posts.graphql(query, variables, token);
  if (errors) return (errors[0]?.extensions.code ?? "INTERNAL_SERVER_ERROR") as ErrorCode;
  const [found] = [data.found].flat();
  return found === null ? "NOT_FOUND" : "yes";
}

function restDoor(version: "v1" | "v2", published: object, archived: object): Readonly<Partial<Record<Verb, Knock>>> {
  const ask = (method: string, body?: object) => (id: string, token: string | undefined) =>
    outcomeOfRest(method, `/${version}/posts/${id}`, token, body);
  return {
    read: ask("GET"),
    create: (_id, token) => outcomeOfRest("POST", `/${version}/posts`, token, { title: "New" }),
    update: ask("PATCH", { title: "Changed" }),
    publish: ask("PATCH", published),
    archive: ask("PATCH", archived),
  };
}

async function outcomeOfRest(method: string, path: string, token: string | undefined, body?: object): Promise<Outcome> {
  const answer = await posts.rest(method, path, {
    ...bearing(token),
    ...(body === undefined ? {} : { body }),
    headers: { "if-match": "*" },
  });
  if (answer.status < 300) return "yes";
  const code = answer.body.type.replace("/problems/", "").replaceAll("-", "_").toUpperCase() as ErrorCode;
  expect(answer.status).toBe(statusOf[code]);
  return code;
}
