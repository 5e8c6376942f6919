import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { freshSeconds, staleIfErrorSeconds } from "../groups.ts";

/** No invalidation reaches browsers, and other shared caches than the REST proxy's follow no writes. A stale post does no harm. */
const freshness = {
  browserSeconds: 2,
  sharedSeconds: freshSeconds,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds,
} as const;

export const routes = [
  {
    id: "listPosts",
    method: "GET",
    path: "/posts",
    versions: [1, 2],
    query: ["limit", "cursor", "status", "authorId", "search", "sort"],
    cache: "public",
    freshness,
    // A list with this query parameter can contain the caller's drafts.
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
  {
    id: "createPost",
    method: "POST",
    path: "/posts",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1, 2], required: [] },
    summary: "Create a draft",
  },
  {
    id: "updatePost",
    method: "PATCH",
    path: "/posts/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change, publish or archive a post",
  },
] as const satisfies readonly RouteDeclaration[];
