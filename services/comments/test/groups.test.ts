import { testCacheGroups } from "@tributary/kit/testing/cache-groups";
import { groupsOfChange } from "../src/groups.ts";
import { routes } from "../src/rest/routes.ts";
import { startComments, usual } from "./fixtures.ts";

const body = "Fresh.";

// Of `startComments`: on post 1 are 1 by Grace, 2 by Linus, 3 by Ada and the deleted 5; on post 2 are 4 by Ada and 6 by Linus. 7 is too old
// to edit.
testCacheGroups({
  service: "comments",
  start: startComments,
  routes,
  schema: new URL("../schema.graphql", import.meta.url),
  groupsOfChange,
  seed: "insert into comments (post_id, author_id, body, created_at) values (2, 1, 'Long ago.', '2026-01-01')",
  callers: {
    ada: ["1", ...usual],
    grace: ["2", ...usual],
    linus: ["3", ...usual],
    moderator: ["4", "comments:write:all"],
  },
  reads: [
    ...["/comments", "/comments?limit=2", "/comments?limit=3&sort=oldest"],
    ...[
      "/comments?postId=2&limit=1",
      "/comments?postId=99",
      "/comments?postId=malformed",
      "/comments?postId=1&authorId=1",
    ],
    ...[
      "/comments?authorId=1&limit=2",
      "/comments?authorId=3",
      "/comments?authorId=99",
      "/comments?authorId=malformed",
    ],
    ...["/posts/1/comments?limit=2", "/posts/2/comments?sort=oldest&limit=2", "/posts/99/comments"],
    ...["/comments/1", "/comments/3", "/comments/5", "/comments/6", "/comments/99"],
  ],
  queries: [
    ...["1", "5", "99"].map((id) => `comment(id: "${id}")`),
    ...["comments", "comments(first: 2)", 'comments(postId: "1", authorId: "1")', 'comments(postId: "99")'],
    ...['comments(authorId: "3")', 'comments(authorId: "malformed")'],
  ],
  entities: [
    ...["1", "3", "5", "99"].map((id) => ({ __typename: "Comment", id })),
    ...["1", "2", "99", "malformed"].flatMap((id) => [
      { __typename: "Post", id },
      { __typename: "User", id },
    ]),
  ],
  writes: {
    visible: [
      ...["1", "2", "99"].flatMap((postId) => [
        { rest: "POST /v1/comments", as: "ada", body: { postId, text: body } },
        { rest: "POST /v2/comments", as: "grace", body: { postId, body } },
      ]),
      ...[["ada", "3"] as const, ["linus", "6"] as const].flatMap(([as, id]) => [
        { rest: `PATCH /v1/comments/${id}`, as, body: { text: body } },
        { rest: `PATCH /v2/comments/${id}`, as, body: { body } },
      ]),
      ...["1", "3", "7"].map((id) => ({ rest: `DELETE /comments/${id}`, as: "moderator" })),
      { mutation: "addComment", as: "ada", input: { postId: "2", body } },
      { mutation: "editComment", as: "grace", input: { id: "1", body } },
      ...["1", "6", "7"].map((id) => ({ mutation: "deleteComment", as: "moderator", input: { id } })),
      { sql: "update comments set body = 'Fresh.', deleted_at = null where id = 5" },
      { sql: "update comments set post_id = 2, author_id = 2 where post_id = 1" },
      { sql: "delete from comments" },
    ],
    hidden: [],
    rejected: [
      { rest: "PATCH /v1/comments/1", as: "ada", body: { text: body } },
      { rest: "PATCH /v2/comments/7", as: "ada", body: { body } },
      { rest: "DELETE /v1/comments/5", as: "moderator" },
      { mutation: "deleteComment", as: "ada", input: { id: "1" } },
    ],
  },
  tables: {
    comments: {
      insert: "(post_id, author_id, body) values (1, 99, 'Fresh.')",
      where: "id = 3",
      update: {
        id: "99",
        post_id: "99",
        author_id: "99",
        body: "'Fresh.'",
        created_at: "now() - interval '1 s'",
        edited_at: "now()",
        deleted_at: "now(), body = null",
        row_version: "1",
      },
    },
  },
});
