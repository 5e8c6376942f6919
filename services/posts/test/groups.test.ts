import { testCacheGroups } from "@tributary/kit/testing/cache-groups";
import { groupsOfChange } from "../src/groups.ts";
import { routes } from "../src/rest/routes.ts";
import { startPosts, usual } from "./fixtures.ts";

const fresh = { title: "Fresh" };
const content = { format: "MARKDOWN", text: "Fresh *text*." };

// Of `startPosts`: Ada's posts 1 and 6 and Grace's 4 are published, 2 and 5 are drafts, 3 is archived. 7 is Ada's and published too.
testCacheGroups({
  service: "posts",
  start: startPosts,
  routes,
  schema: new URL("../schema.graphql", import.meta.url),
  groupsOfChange,
  seed: "insert into posts (author_id, title, status, published_at) values (1, 'More notes', 'PUBLISHED', '2026-04-01')",
  callers: { ada: ["1", ...usual], grace: ["2", ...usual], editor: ["3", "posts:read:all", "posts:write:all"] },
  reads: [
    ...[
      "/posts",
      "/posts?limit=1",
      "/posts?limit=2&sort=oldest",
      "/posts?search=fresh&limit=1",
      "/posts?status=PUBLISHED",
    ],
    ...["/posts?authorId=1&limit=2", "/posts?authorId=3", "/posts?authorId=malformed"],
    ...[
      "/users/1/posts?limit=2&sort=oldest",
      "/users/3/posts",
      "/users/malformed/posts",
      "/users/1/posts?status=DRAFT",
    ],
    ...["/posts/1", "/posts/2", "/posts/3", "/posts/4", "/posts/7", "/posts/99"],
  ],
  queries: [
    ...["1", "2", "3", "1001"].map((id) => `post(id: "${id}")`),
    ...["posts", "posts(first: 1)", 'posts(authorId: "3")', 'posts(search: "fresh")', "posts(status: DRAFT)"],
  ],
  entities: [
    ...["1", "2", "3", "4", "99"].map((id) => ({ __typename: "Post", id })),
    ...["1", "2", "3", "malformed"].map((id) => ({ __typename: "User", id })),
  ],
  writes: {
    visible: [
      ...["1", "4", "7"].map((id) => ({ rest: `PATCH /posts/${id}`, as: "editor", body: fresh })),
      { rest: "PATCH /v1/posts/1", as: "ada", body: { body: null } },
      { rest: "PATCH /v2/posts/1", as: "ada", body: { content } },
      ...["1", "4", "7"].map((id) => ({ rest: `PATCH /v1/posts/${id}`, as: "editor", body: { published: false } })),
      { rest: "PATCH /v2/posts/6", as: "ada", body: { status: "ARCHIVED" } },
      ...["2", "3"].map((id) => ({ rest: `PATCH /v1/posts/${id}`, as: "ada", body: { published: true } })),
      ...["3", "5"].map((id) => ({ rest: `PATCH /v2/posts/${id}`, as: "editor", body: { status: "PUBLISHED" } })),
      { mutation: "updatePost", as: "ada", input: { id: "1", ...fresh } },
      { mutation: "updatePost", as: "editor", input: { id: "4", content } },
      ...["2", "3", "5"].map((id) => ({ mutation: "publishPost", as: "editor", input: { id } })),
      ...["1", "4", "7"].map((id) => ({ mutation: "archivePost", as: "editor", input: { id } })),
      { sql: "update posts set title = 'Fresh'" },
      { sql: "update posts set status = 'PUBLISHED', published_at = now() where id = 2" },
      { sql: "update posts set author_id = 3, status = 'ARCHIVED' where id = 1" },
      { sql: "update posts set author_id = 3, status = 'PUBLISHED' where id = 3" },
      { sql: "delete from posts" },
    ],
    hidden: [
      { rest: "POST /posts", as: "ada", body: fresh },
      ...["2", "3"].map((id) => ({ rest: `PATCH /posts/${id}`, as: "editor", body: fresh })),
      { rest: "PATCH /v1/posts/2", as: "ada", body: { published: false } },
      { mutation: "createPost", as: "ada", input: fresh },
      { mutation: "updatePost", as: "ada", input: { id: "2", ...fresh } },
      { mutation: "updatePost", as: "ada", input: { id: "1" } },
      { sql: "insert into posts (author_id, title) values (1, 'Fresh')" },
      { sql: "update posts set title = 'Fresh', author_id = 3 where status <> 'PUBLISHED'" },
      { sql: "update posts set status = 'DRAFT', published_at = null where id = 3" },
      { sql: "delete from posts where status <> 'PUBLISHED'" },
    ],
    rejected: [
      { rest: "PATCH /v1/posts/1", as: "grace", body: fresh },
      { rest: "PATCH /v2/posts/1", as: "ada", body: { status: "DRAFT" } },
      { mutation: "archivePost", as: "ada", input: { id: "2" } },
    ],
  },
  tables: {
    posts: {
      insert: "(author_id, title, status, published_at) values (3, 'Fresh', 'PUBLISHED', now())",
      where: "id = 1",
      update: {
        id: "1001",
        author_id: "2",
        title: "'Fresh'",
        body: "null",
        body_format: "'PLAIN'",
        status: "'ARCHIVED'",
        created_at: "now()",
        updated_at: "now()",
        published_at: "now()",
        row_version: "1",
      },
    },
  },
});
