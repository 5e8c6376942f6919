import { readFile } from "node:fs/promises";
import { linkOf } from "@tributary/kit/testing/response-headers";
import { findUnsent } from "@tributary/kit/testing/sent-requests";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commentFields } from "../src/model.ts";
import { routes } from "../src/rest/routes.ts";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
/** The service's time; undefined for the machine's. */
let nowMs: number | undefined;
beforeAll(async () => {
  comments = await startComments(() => nowMs ?? Date.now());
  ada = await comments.issuer.token("1", usual);
});
afterAll(() => comments.stop());

test("a visible comment is the same at both endpoints", async () => {
  for (const id of [1, 2, 3, 4, 6]) {
    const { data } = await comments.graphql(`{ comment(id: ${id}) { ${fields} } }`);
    expect((await comments.rest("GET", `/v1/comments/${id}`)).body).toEqual(toV1(data.comment));
    expect((await comments.rest("GET", `/v2/comments/${id}`)).body).toEqual(toV2(data.comment));
  }
});

test("REST lists are the GraphQL lists without tombstones", async () => {
  const lists = {
    "/v1/comments": `comments`,
    "/v1/comments?postId=1": `comments(postId: 1)`,
    "/v1/comments?authorId=2": `comments(authorId: 2)`,
    "/v1/comments?authorId=2&postId=2": `comments(authorId: 2, postId: 2)`,
    "/v1/posts/1/comments": `comments(postId: 1)`,
  };
  for (const [path, list] of Object.entries(lists)) {
    const { data } = await comments.graphql(`{ ${list} { nodes { ${fields} deletedAt } } }`);
    const visible = data.comments.nodes.filter(({ deletedAt }: { deletedAt: string | null }) => deletedAt === null);
    expect((await comments.rest("GET", path)).body).toEqual(visible.map(toV1));
    const { data: inVersion2 } = (await comments.rest("GET", path.replace("/v1", "/v2"))).body;
    expect(inVersion2).toEqual(visible.map(toV2));
  }
});

test("a cursor of one endpoint is invalid at the other, because their lists differ", async () => {
  const link = linkOf(await comments.rest("GET", "/v1/comments?postId=1&limit=1"), "next");
  const after = new URL(link, "http://x").searchParams.get("cursor");
  const query = `query ($after: String) { comments(postId: 1, after: $after) { nodes { id } } }`;
  expect((await comments.graphql(query, { after })).errors?.[0]?.extensions.code).toBe("INVALID_CURSOR");
});

test("each endpoint reads, changes and deletes comments of the other", async () => {
  const added = await comments.rest("POST", "/v1/comments", { token: ada, body: { postId: "9", text: "One." } });
  const { id } = added.body;
  const edited = await comments.graphql(edit, { input: { id, body: "Two." } }, ada);
  const read = await comments.rest("GET", `/v1/comments/${id}`);
  expect(read.body).toEqual(toV1(edited.data.editComment.comment));
  expect(read.headers.get("etag")).not.toBe(added.headers.get("etag"));
  expect((await comments.rest("DELETE", `/v1/comments/${id}`, { token: ada })).status).toBe(204);
  const { data } = await comments.graphql(`{ comment(id: ${id}) { body deletedAt } }`);
  expect(data.comment).toEqual({ body: null, deletedAt: expect.any(String) });
});

test("both endpoints report the same problems, each with its own field names", async () => {
  const graph = await comments.graphql(add, { input: { postId: "x", body: " " } }, ada);
  const rest = await comments.rest("POST", "/v1/comments", { token: ada, body: { postId: "x", text: " " } });
  expect(rest.body.errors).toEqual(
    graph.errors?.[0]?.extensions.problems?.map((problem) => ({
      ...problem,
      pointer: problem.pointer.replace("#/body", "#/text"),
    })),
  );
  expect(rest.body.detail).toBe(graph.errors?.[0]?.message);
  const second = await comments.rest("POST", "/v2/comments", { token: ada, body: { postId: "x", body: " " } });
  expect(second.body.errors).toEqual(graph.errors?.[0]?.extensions.problems);
});

interface Caller {
  readonly userId?: string;
  readonly scopes?: readonly string[];
}

/** The callers, for a new comment of Ada. */
const callers = {
  anonymous: {},
  author: { userId: "1", scopes: ["comments:write"] },
  authorWithoutScope: {
    userId: "1",
    scopes: ["comments:read", "posts:write:all"],
  },
  another: { userId: "2", scopes: usual },
  holder: { userId: "3", scopes: ["comments:write:all"] },
} as const satisfies Readonly<Record<string, Caller>>;

type Outcome = "allowed" | "UNAUTHENTICATED" | "FORBIDDEN";

/** The expected outcome of each action for each caller. */
const whoMay: Readonly<Record<Action, Readonly<Record<keyof typeof callers, Outcome>>>> = {
  read: everyCaller(),
  list: everyCaller(),
  listOfPost: everyCaller(),
  add: row("UNAUTHENTICATED", "allowed", "FORBIDDEN", "allowed", "FORBIDDEN"),
  edit: row("UNAUTHENTICATED", "allowed", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"),
  delete: row("UNAUTHENTICATED", "allowed", "FORBIDDEN", "FORBIDDEN", "allowed"),
};

type Action = "read" | "list" | "listOfPost" | "add" | "edit" | "delete";
type Send = (id: string, token?: string) => Promise<string>;

/** The request for each action at each endpoint that has it. It resolves to `allowed` or the error code. */
const endpoints = {
  read: {
    graphql: (id, token) => byGraphql(`query ($id: ID!) { comment(id: $id) { body } }`, { id }, token),
    v1: (id, token) => byRest("GET", `/v1/comments/${id}`, { token }),
    v2: (id, token) => byRest("GET", `/v2/comments/${id}`, { token }),
  },
  list: {
    graphql: (_id, token) => byGraphql(`{ comments { nodes { body } } }`, {}, token),
    v1: (_id, token) => byRest("GET", "/v1/comments", { token }),
    v2: (_id, token) => byRest("GET", "/v2/comments", { token }),
  },
  listOfPost: {
    graphql: (_id, token) => byGraphql(ofPost, { of: [{ __typename: "Post", id: "1" }] }, token),
    v1: (_id, token) => byRest("GET", "/v1/posts/1/comments", { token }),
    v2: (_id, token) => byRest("GET", "/v2/posts/1/comments", { token }),
  },
  add: {
    graphql: (_id, token) => byGraphql(add, { input: { postId: "8", body: "Hello." } }, token),
    v1: (_id, token) => byRest("POST", "/v1/comments", { token, body: { postId: "8", text: "Hello." } }),
    v2: (_id, token) => byRest("POST", "/v2/comments", { token, body: { postId: "8", body: "Hello." } }),
  },
  edit: {
    graphql: (id, token) => byGraphql(edit, { input: { id, body: "Changed." } }, token),
    v1: (id, token) =>
      byRest("PATCH", `/v1/comments/${id}`, { token, body: { text: "Changed." }, headers: { "if-match": "*" } }),
    v2: (id, token) =>
      byRest("PATCH", `/v2/comments/${id}`, { token, body: { body: "Changed." }, headers: { "if-match": "*" } }),
  },
  delete: {
    graphql: (id, token) => byGraphql(remove, { input: { id } }, token),
    v1: (id, token) => byRest("DELETE", `/v1/comments/${id}`, { token }),
    v2: (id, token) => byRest("DELETE", `/v2/comments/${id}`, { token }),
  },
} satisfies Readonly<Record<Action, { readonly graphql?: Send; readonly v1?: Send; readonly v2?: Send }>>;

for (const action of Object.keys(whoMay) as Action[]) {
  test(`${action} has the expected outcome for each caller through every endpoint, and only an allowed one has an effect`, async () => {
    const isWrite = whoMay[action].anonymous !== "allowed";
    for (const [endpoint, send] of Object.entries<Send>(endpoints[action])) {
      for (const [name, caller] of Object.entries(callers) as [keyof typeof callers, Caller][]) {
        const { id } = await writeComment(comments);
        const before = await hashRows();
        const outcome = await send(id, await tokenOf(caller));
        const isChanged = (await hashRows()) !== before;
        const expected = whoMay[action][name];
        expect([endpoint, name, outcome, isChanged]).toEqual([
          endpoint,
          name,
          expected,
          isWrite && expected === "allowed",
        ]);
      }
    }
  });
}

test("the table has a request for every root field and every route", async () => {
  const sdl = await readFile(new URL("../schema.graphql", import.meta.url), "utf8");
  const { id } = await writeComment(comments);
  comments.takeSent();
  for (const sends of Object.values(endpoints))
    for (const send of Object.values<Send>(sends)) await send(id, undefined);
  const toDo = "add its action to `Action`, `whoMay` and `endpoints` above";
  expect(findUnsent(sdl, routes, comments.takeSent()), toDo).toEqual([]);
});

test("an unauthorized caller gets no problems of the input", async () => {
  const { id } = await writeComment(comments);
  const bad = { nothing: "of this" };
  for (const [method, path] of [
    ["POST", "/v1/comments"],
    ["PATCH", `/v1/comments/${id}`],
    ["POST", "/v2/comments"],
    ["PATCH", `/v2/comments/${id}`],
  ] as const) {
    expect(await byRest(method, path, { body: bad })).toBe("UNAUTHENTICATED");
    expect(await byRest(method, path, { body: bad, token: await tokenOf(callers.holder) })).toBe("FORBIDDEN");
  }
});

test("an author may delete with only comments:write:all, and edit with both scopes", async () => {
  const { id } = await writeComment(comments);
  expect(await endpoints.edit.v2(id, await comments.issuer.token("1", ["comments:write", "comments:write:all"]))).toBe(
    "allowed",
  );
  expect(await endpoints.delete.graphql(id, await comments.issuer.token("1", ["comments:write:all"]))).toBe("allowed");
});

test("an author may change a comment up to 15 minutes after writing it, however often, and delete it at any time", async () => {
  const minuteMs = 60_000;
  const { id, createdAt } = await writeComment(comments, "Kept.");
  const other = await writeComment(comments);
  const changeAt = async (sinceMs: number, ifMatch?: string) => {
    const headers = { "if-match": ifMatch ?? "*" };
    nowMs = createdAt.getTime() + sinceMs;
    return [
      await endpoints.edit.graphql(id, ada),
      await byRest("PATCH", `/v1/comments/${id}`, { token: ada, body: { text: "Changed." }, headers }),
      await byRest("PATCH", `/v2/comments/${id}`, { token: ada, body: { body: "Changed." }, headers }),
    ];
  };
  expect(await changeAt(15 * minuteMs + 1)).toEqual(["INVALID_STATE", "INVALID_STATE", "INVALID_STATE"]);
  expect((await comments.rest("GET", `/v1/comments/${id}`)).body).toMatchObject({ text: "Kept.", editedAt: null });
  // An edit does not extend the 15 minutes.
  for (const sinceMs of [14 * minuteMs, 15 * minuteMs]) {
    expect(await changeAt(sinceMs)).toEqual(["allowed", "allowed", "allowed"]);
  }
  expect(await changeAt(16 * minuteMs, '"7-v1-public"')).toEqual(["INVALID_STATE", "INVALID_STATE", "INVALID_STATE"]);
  nowMs = other.createdAt.getTime() + 365 * 24 * 60 * minuteMs;
  expect(await endpoints.delete.v1(other.id, ada)).toBe("allowed");
  nowMs = undefined;
});

const fields = `id body ${commentFields.names.join(" ")} author { id } post { id } createdAt editedAt`;
const add = `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { ${fields} } } }`;
const edit = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { ${fields} } } }`;
const remove = `mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { comment { deletedAt } } }`;
const ofPost = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on Post { comments { body } commentCount } } }`;

interface GraphComment {
  readonly id: string;
  readonly body: string;
  readonly author: { readonly id: string };
  readonly post: { readonly id: string };
  readonly createdAt: string;
  readonly editedAt: string | null;
  readonly deletedAt?: null;
}

/** The version 1 JSON of a GraphQL comment. */
function toV1({ body, author, post, deletedAt: _deletedAt, ...fields }: GraphComment) {
  return { ...fields, postId: post.id, authorId: author.id, text: body };
}

/** The version 2 JSON. */
function toV2(comment: GraphComment) {
  const { text, ...rest } = toV1(comment);
  return { ...rest, body: text };
}

async function byGraphql(query: string, variables: object, token?: string): Promise<string> {
  const { status, data, errors } = await comments.graphql(query, variables, token);
  expect(status).toBe(200);
  if (errors === undefined) return "allowed";
  expect(Object.values(data)).toEqual([null]);
  return errors[0]?.extensions.code ?? "no code";
}

async function byRest(
  method: string,
  path: string,
  o: { readonly token?: string | undefined; readonly body?: unknown; readonly headers?: Record<string, string> },
): Promise<string> {
  const { token, ...rest } = o;
  const { status, body } = await comments.rest(method, path, { ...rest, ...(token === undefined ? {} : { token }) });
  if (status < 300) return "allowed";
  expect(status).toBe(body.status);
  return body.type.replace("/problems/", "").replaceAll("-", "_").toUpperCase();
}

async function tokenOf(caller: Caller): Promise<string | undefined> {
  return caller.userId === undefined ? undefined : comments.issuer.token(caller.userId, caller.scopes);
}

async function hashRows(): Promise<unknown> {
  const text = "select md5(string_agg(comments::text, '' order by id)) as hash from comments";
  return (await comments.database.database.rows<{ hash: string }>("hash", text))[0]?.hash;
}

function row(...outcomes: readonly [Outcome, Outcome, Outcome, Outcome, Outcome]) {
  const [anonymous, author, authorWithoutScope, another, holder] = outcomes;
  return { anonymous, author, authorWithoutScope, another, holder };
}

function everyCaller() {
  return row("allowed", "allowed", "allowed", "allowed", "allowed");
}
