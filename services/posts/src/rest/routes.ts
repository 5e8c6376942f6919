import type { RouteDeclaration } from "@tributary/kit/rest/routes";

/** Browsers ask soon, for nothing tells them of changes. Shared caches hear of writes by REST, and ask in time for those by GraphQL. */
const freshness = {
  browserSeconds: 2,
  sharedSeconds: 10,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds: 300,
} as const;

/** The posts team's public routes. Composition merges them with the other teams' into the proxy's table. */
export const routes = [
  {
    id: "listPosts",
    method: "GET",
    path: "/posts",
    versions: [1, 2],
    query: ["limit", "cursor", "status", "authorId", "search", "sort"],
    cache: "public",
    freshness,
    privateWith: ["status"],
    summary: "Published posts, newest first",
  },
  {
    id: "getPost",
    method: "GET",
    path: "/posts/:id",
    versions: [1, 2],
    cache: "public",
    freshness,
    summary: "One post",
  },
  {
    id: "listUserPosts",
    method: "GET",
    path: "/users/:id/posts",
    versions: [1, 2],
    query: ["limit", "cursor", "status", "sort"],
    cache: "public",
    freshness,
    privateWith: ["status"],
    summary: "A user's published posts, newest first; none for an unknown user",
  },
  { id: "createPost", method: "POST", path: "/posts", versions: [1, 2], cache: "none", summary: "Write a draft" },
  {
    id: "updatePost",
    method: "PATCH",
    path: "/posts/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change, publish or archive a post",
  },
] as const satisfies readonly RouteDeclaration[];
