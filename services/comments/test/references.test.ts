import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startComments } from "./fixtures.ts";

let comments: TestService;
beforeAll(async () => {
  comments = await startComments();
  await comments.database.database.rows(
    "many",
    `insert into comments (post_id, author_id, body)
      select 100 + n % 30, 100 + n % 20, 'Comment ' || n from generate_series(1, 600) as n`,
  );
});
beforeEach(() => void comments.database.takeStatements());
afterAll(() => comments.stop());

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
    `... on Post { new: comments(first: 2) { id } old: comments(after: 3) { id } none: comments(after: "x") { id } }`,
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

async function entities(of: readonly object[], fields: string) {
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ${fields} } }`;
  const { data, errors } = await comments.graphql(query, { of });
  expect(errors).toBeUndefined();
  return data;
}

function reference(__typename: string, id: string | number) {
  return { __typename, id: String(id) };
}
