import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startComments, usual, writeComment } from "./fixtures.ts";

let comments: TestService;
let ada: string;
let grace: string;
let keeper: string;
beforeAll(async () => {
  comments = await startComments();
  // On posts 100 to 129, by users 100 to 119.
  await comments.database.database.rows(
    "many",
    `insert into comments (post_id, author_id, body)
      select 100 + n % 30, 100 + n % 20, 'Comment ' || n from generate_series(1, 600) as n`,
  );
  ada = await comments.issuer.token("1", usual);
  grace = await comments.issuer.token("2", usual);
  keeper = await comments.issuer.token("3", ["comments:write:all"]);
});
beforeEach(() => void comments.database.takeStatements());
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
    return data.comments.nodes.map(({ id }: { id: string }) => Number(id));
  };
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
  const of = [reference("Post", 1), reference("User", 1)];
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

test("a hundred references to comments are one statement; the result has their order, with null for unknown ids", async () => {
  const of = Array.from({ length: 100 }, (_, index) => reference("Comment", [5, 1, 99_999, 3][index % 4] ?? 0));
  const { _entities } = await entities(of, `... on Comment { id body }`);
  expect(comments.database.takeStatements()).toEqual(["find-comments"]);
  expect(_entities).toHaveLength(100);
  expect(_entities.slice(0, 4)).toEqual([
    { id: "5", body: null },
    { id: "1", body: "A lovely engine." },
    null,
    { id: "3", body: "See note G." },
  ]);
});

test("the comments of one post and of fifty need the same statements", async () => {
  const fields = `... on Post { comments(first: 3) { id post { id } author { id } } commentCount
    more: comments(first: 100) { id } commentsConnection(first: 2) { nodes { id } pageInfo { hasNextPage } } }`;
  for (const count of [1, 50]) {
    const of = Array.from({ length: count }, (_, index) => reference("Post", 100 + index));
    const { _entities } = await entities(of, fields);
    expect([...comments.database.takeStatements()].sort()).toEqual(["count-visible", "list-parts-by-post"]);
    for (const [index, post] of _entities.entries()) {
      const known = index < 30;
      expect(post.commentCount).toBe(known ? 20 : 0);
      expect(post.more).toHaveLength(known ? 20 : 0);
      expect(post.comments).toEqual(
        post.more.slice(0, 3).map(({ id }: { id: string }) => ({
          id,
          post: { id: String(100 + index) },
          author: { id: expect.any(String) },
        })),
      );
      expect(post.commentsConnection).toEqual({
        nodes: post.more.slice(0, 2),
        pageInfo: { hasNextPage: known },
      });
    }
  }
});

test("the comments of one user and of fifty need one statement", async () => {
  for (const count of [1, 50]) {
    const of = Array.from({ length: count }, (_, index) => reference("User", 100 + index));
    const { _entities } = await entities(of, `... on User { comments(first: 30) { id author { id } } }`);
    expect(comments.database.takeStatements()).toEqual(["list-parts-by-author"]);
    for (const [index, user] of _entities.entries()) {
      expect(user.comments).toHaveLength(index < 20 ? 30 : 0);
      for (const comment of user.comments) expect(comment.author.id).toBe(String(100 + index));
    }
  }
});

test("the lists of many parents each continue after their own `after`", async () => {
  const { _entities } = await entities(
    [reference("Post", 1), reference("Post", 2)],
    `... on Post { new: comments(first: 2, after: "") { id } old: comments(after: 3) { id } none: comments(after: "x") { id } }`,
  );
  expect(_entities).toEqual([
    { new: [{ id: "5" }, { id: "3" }], old: [{ id: "2" }, { id: "1" }], none: [] },
    { new: [{ id: "6" }, { id: "4" }], old: [], none: [] },
  ]);
  expect(comments.database.takeStatements()).toEqual(["list-parts-by-post"]);
});

test("a post's lists contain tombstones, its count does not", async () => {
  const { _entities } = await entities([reference("Post", 1)], `... on Post { commentCount comments { id body } }`);
  expect(_entities[0].commentCount).toBe(3);
  expect(_entities[0].comments[0]).toEqual({ id: "5", body: null });
  expect(_entities[0].comments).toHaveLength(4);
});

test("cursors lead through a post's pages, which equal those of the filtered list", async () => {
  const page = async (after: string | null) => {
    const fields = `... on Post { commentsConnection(first: 15, after: $after) {
      nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
    const query = `query ($of: [_Any!]!, $after: String) { _entities(representations: $of) { ${fields} } }`;
    const { data, errors } = await comments.graphql(query, { of: [reference("Post", 100)], after });
    expect(errors).toBeUndefined();
    return data._entities[0].commentsConnection;
  };
  const first = await page(null);
  const second = await page(first.pageInfo.endCursor);
  expect([first.nodes.length, first.pageInfo.hasNextPage]).toEqual([15, true]);
  expect([second.nodes.length, second.pageInfo.hasNextPage, second.pageInfo.hasPreviousPage]).toEqual([5, false, true]);
  const list = await comments.graphql(
    `query ($after: String) { comments(postId: 100, first: 15, after: $after) { nodes { id } } }`,
    { after: first.pageInfo.endCursor },
  );
  expect(list.data.comments.nodes).toEqual(second.nodes);
});

test("parents with malformed ids have no comments, and need no statement", async () => {
  const of = ["0", "x", "99999999999999999999"].flatMap((id) => [reference("Post", id), reference("User", id)]);
  const { _entities } = await entities(
    of,
    `... on Post { commentCount comments { id } } ... on User { written: comments { id } }`,
  );
  expect(_entities.slice(0, 2)).toEqual([{ commentCount: 0, comments: [] }, { written: [] }]);
  expect(comments.database.takeStatements()).toEqual([]);
});

test("loaders do not cache across requests", async () => {
  const of = [reference("Comment", 1)];
  await entities(of, `... on Comment { body }`);
  await entities(of, `... on Comment { body }`);
  expect(comments.database.takeStatements()).toEqual(["find-comments", "find-comments"]);
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

test("aliases of a body beyond 16 MiB are left out, with one error", async () => {
  await comments.database.database.rows(
    "long",
    `insert into comments (post_id, author_id, body) select 200, 200, repeat('x', 5000) from generate_series(1, 20)`,
  );
  const aliases = Array.from({ length: 180 }, (_, i) => `a${i}: body`).join(" ");
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on Post { comments { ${aliases} } } } }`;
  const { data, errors } = await comments.graphql(query, { of: [reference("Post", 200)] });
  expect(errors).toMatchObject([{ extensions: { code: "PAYLOAD_TOO_LARGE" } }]);
  const bodies = data._entities[0].comments.flatMap((comment: object) => Object.values(comment));
  const sent = bodies.filter((body: string | null) => body !== null).length * 5_000;
  expect([bodies.length, sent <= 16_777_216, sent > 16_000_000]).toEqual([20 * 180, true, true]);
  await comments.database.database.rows("not-long", "delete from comments where post_id = 200");
});

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

async function entities(of: readonly object[], fields: string) {
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ${fields} } }`;
  const { data, errors } = await comments.graphql(query, { of });
  expect(errors).toBeUndefined();
  return data;
}

function reference(__typename: string, id: string | number) {
  return { __typename, id: String(id) };
}
