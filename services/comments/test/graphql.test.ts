import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
let grace: string;
let keeper: string;
beforeAll(async () => {
  comments = await startComments();
  ada = await comments.issuer.token("1", usual);
  grace = await comments.issuer.token("2", usual);
  keeper = await comments.issuer.token("3", ["comments:write:all"]);
});
afterAll(() => comments.stop());

test("every client may read a comment, with references to its author and its post", async () => {
  const fields = `id body author { id } post { id } createdAt editedAt deletedAt`;
  const { data, errors } = await comments.graphql(`{ comment(id: 1) { ${fields} } }`);
  expect(errors).toBeUndefined();
  const { createdAt, ...rest } = data.comment;
  expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(rest).toEqual({
    id: "1",
    body: "A lovely engine.",
    author: { id: "2" },
    post: { id: "1" },
    editedAt: null,
    deletedAt: null,
  });
});

test("a deleted comment remains in lists with its author and its post, without a body", async () => {
  const { data } = await comments.graphql(`{ comment(id: 5) { body author { id } post { id } deletedAt } }`);
  expect(data.comment).toEqual({ body: null, author: { id: "2" }, post: { id: "1" }, deletedAt: expect.any(String) });
});

test("a malformed id is null, not an error", async () => {
  for (const id of ["0", "-1", "x", "99999999999999999999", "1 or 1=1", "", "999"]) {
    const response = await comments.graphql(`query ($id: ID!) { comment(id: $id) { id } }`, { id });
    expect(response).toEqual({ status: 200, data: { comment: null } });
  }
});

test("an invalid token is rejected before execution", async () => {
  comments.database.takeStatements();
  const response = await comments.graphql(`{ comment(id: 1) { id } }`, {}, "eyJhbGciOiJub25lIn0.e30.");
  expect(response).toMatchObject({ status: 401, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  expect(comments.database.takeStatements()).toEqual([]);
});

test("cursors lead through all pages, and a cursor is valid only with its filters", async () => {
  const page = `query ($after: String, $postId: ID, $first: Int = 2) {
    comments(first: $first, after: $after, postId: $postId) {
      edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const first = (await comments.graphql(page, { postId: "1" })).data.comments;
  expect(first.nodes).toEqual([{ id: "5" }, { id: "3" }]);
  expect(first.edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual([
    first.pageInfo.startCursor,
    first.pageInfo.endCursor,
  ]);
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const after = first.pageInfo.endCursor;
  const second = await comments.graphql(page, { after, postId: "1" });
  expect(second.data.comments).toMatchObject({ nodes: [{ id: "2" }, { id: "1" }], pageInfo: { hasNextPage: false } });
  for (const postId of [undefined, "2"]) {
    const { data, errors } = await comments.graphql(page, { after, postId });
    expect(data).toEqual({ comments: null });
    expect(errors?.[0]?.extensions.code).toBe("INVALID_CURSOR");
  }
});

test("filters combine, and a malformed id gives an empty list", async () => {
  const ids = async (filters: object) => {
    const query = `query ($postId: ID, $authorId: ID) { comments(postId: $postId, authorId: $authorId) { nodes { id } } }`;
    const { data } = await comments.graphql(query, filters);
    return data.comments.nodes.map(({ id }: { id: string }) => Number(id)).filter((id: number) => id <= 6);
  };
  expect(await ids({})).toEqual([6, 5, 4, 3, 2, 1]);
  expect(await ids({ authorId: "2" })).toEqual([5, 1]);
  expect(await ids({ authorId: "1", postId: "2" })).toEqual([4]);
  expect(await ids({ authorId: null, postId: "2" })).toEqual([6, 4]);
  for (const impossible of ["0", "x", "", "99999999999999999999"]) {
    expect(await ids({ postId: impossible })).toEqual([]);
    expect(await ids({ authorId: impossible, postId: "1" })).toEqual([]);
  }
});

test("first must be 1 to 100 in every list", async () => {
  const lists = `query ($first: Int, $of: [_Any!]!) {
    comments(first: $first) { nodes { id } }
    _entities(representations: $of) {
      ... on Post { comments(first: $first) { id } commentsConnection(first: $first) { nodes { id } } }
      ... on User { written: comments(first: $first) { id } } } }`;
  const of = [post("1"), user("1")];
  for (const first of [0, -1, 101]) {
    const { data, errors = [] } = await comments.graphql(lists, { first, of });
    expect(data).toEqual({
      comments: null,
      _entities: [{ comments: null, commentsConnection: null }, { written: null }],
    });
    expect(errors.map(({ extensions }) => extensions)).toEqual(
      Array.from({ length: 4 }, () => ({
        code: "BAD_USER_INPUT",
        problems: [expect.objectContaining({ pointer: "#/first" })],
      })),
    );
  }
  expect((await comments.graphql(lists, { first: null, of })).errors).toBeUndefined();
});

test("a new comment is returned, with the caller as its author", async () => {
  const { data, errors } = await addComment({ postId: "7", body: "  Zeile 1\nπ ≈ 3 🎉  " }, ada);
  expect(errors).toBeUndefined();
  expect(data.addComment.comment).toMatchObject({ body: "Zeile 1\nπ ≈ 3 🎉", author: { id: "1" }, post: { id: "7" } });
  const { id } = data.addComment.comment;
  expect((await comments.graphql(`{ comment(id: ${id}) { body editedAt } }`)).data.comment.editedAt).toBeNull();
});

test("a body has 1 to 5,000 characters, counted as Unicode code points", async () => {
  expect((await addComment({ postId: "7", body: "🎉".repeat(5_000) }, ada)).errors).toBeUndefined();
  for (const body of ["", " \n ", "x".repeat(5_001)]) {
    const { errors } = await addComment({ postId: "7", body }, ada);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      problems: [{ pointer: "#/body", code: "length" }],
    });
  }
  const { errors } = await addComment({ postId: "7", body: "a\u0000b" }, ada);
  expect(errors?.[0]?.extensions.problems).toMatchObject([{ pointer: "#/body", code: "bad_characters" }]);
});

test("every problem of an input is reported at once", async () => {
  for (const postId of ["0", "-1", "x", "", "9223372036854775808"]) {
    const { errors } = await addComment({ postId, body: " " }, ada);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      problems: [
        { pointer: "#/postId", code: "invalid" },
        { pointer: "#/body", code: "length" },
      ],
    });
  }
});

test("an edit sets editedAt, a deletion does not", async () => {
  const { id } = await writeComment(comments, "Frist!");
  const edited = await comments.graphql(edit, { input: { id, body: "First!" } }, ada);
  expect(edited.data.editComment.comment).toMatchObject({
    body: "First!",
    editedAt: expect.any(String),
    deletedAt: null,
  });
  const { editedAt } = edited.data.editComment.comment;
  const deleted = await comments.graphql(remove, { input: { id } }, ada);
  expect(deleted.data.deleteComment.comment).toEqual({ body: null, editedAt, deletedAt: expect.any(String) });
});

test("an edit is validated like a new comment", async () => {
  const { id } = await writeComment(comments);
  const { errors } = await comments.graphql(edit, { input: { id, body: "" } }, ada);
  expect(errors?.[0]?.extensions).toMatchObject({ code: "BAD_USER_INPUT", problems: [{ pointer: "#/body" }] });
});

test("a deleted comment can be neither edited nor deleted again", async () => {
  const { id } = await writeComment(comments);
  await comments.graphql(remove, { input: { id } }, keeper);
  for (const token of [ada, keeper]) {
    expect(codeOf(await comments.graphql(remove, { input: { id } }, token))).toBe("INVALID_STATE");
  }
  expect(codeOf(await comments.graphql(edit, { input: { id, body: "Again." } }, ada))).toBe("INVALID_STATE");
});

test("NOT_FOUND precedes FORBIDDEN, and FORBIDDEN precedes INVALID_STATE", async () => {
  for (const id of ["999999", "0", "x"]) {
    expect(codeOf(await comments.graphql(edit, { input: { id, body: "?" } }, ada))).toBe("NOT_FOUND");
    expect(codeOf(await comments.graphql(remove, { input: { id } }, ada))).toBe("NOT_FOUND");
    expect(codeOf(await comments.graphql(edit, { input: { id, body: "?" } }))).toBe("UNAUTHENTICATED");
  }
  expect(codeOf(await comments.graphql(edit, { input: { id: "5", body: "?" } }, ada))).toBe("FORBIDDEN");
  expect(codeOf(await comments.graphql(remove, { input: { id: "5" } }, ada))).toBe("FORBIDDEN");
  expect(codeOf(await comments.graphql(edit, { input: { id: "5", body: "?" } }, grace))).toBe("INVALID_STATE");
});

const edit = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { body editedAt deletedAt } } }`;
const remove = `mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { comment { body editedAt deletedAt } } }`;

function addComment(input: object, token?: string) {
  const add = `mutation ($input: AddCommentInput!) {
    addComment(input: $input) { comment { id body author { id } post { id } } } }`;
  return comments.graphql(add, { input }, token);
}

function codeOf({ errors }: Awaited<ReturnType<TestService["graphql"]>>): string | undefined {
  return errors?.[0]?.extensions.code;
}

const post = (id: string) => ({ __typename: "Post", id });
const user = (id: string) => ({ __typename: "User", id });

test("each mutation of an operation sees what the mutations before it changed", async () => {
  const { data } = await comments.graphql(
    `mutation ($input: AddCommentInput!) {
      first: addComment(input: $input) { comment { post { commentCount comments { body } } } }
      second: addComment(input: $input) { comment { post { commentCount comments { body } } } }
    }`,
    { input: { postId: "77", body: "Again." } },
    ada,
  );
  expect(data.first.comment.post).toEqual({ commentCount: 1, comments: [{ body: "Again." }] });
  expect(data.second.comment.post).toEqual({ commentCount: 2, comments: [{ body: "Again." }, { body: "Again." }] });
});
