import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { freshSeconds, staleIfErrorSeconds } from "../groups.ts";

/** No invalidation reaches browsers, and other shared caches than the REST proxy's follow no writes. */
const freshness = {
  browserSeconds: 2,
  sharedSeconds: freshSeconds,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds,
} as const;

export const routes = [
  {
    id: "listComments",
    method: "GET",
    path: "/comments",
    versions: [1, 2],
    query: ["limit", "cursor", "postId", "authorId", "sort"],
    cache: "public",
    freshness,
    summary: "Comments, newest first",
  },
  {
    id: "getComment",
    method: "GET",
    path: "/comments/:id",
    versions: [1, 2],
    cache: "public",
    freshness,
    summary: "One comment",
  },
  {
    id: "listPostComments",
    method: "GET",
    path: "/posts/:id/comments",
    versions: [1, 2],
    query: ["limit", "cursor", "sort"],
    cache: "public",
    freshness,
    summary: "A post's comments, newest first; none for an unknown post",
  },
  {
    id: "addComment",
    method: "POST",
    path: "/comments",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1, 2], required: [] },
    summary: "Comment on a post",
  },
  {
    id: "editComment",
    method: "PATCH",
    path: "/comments/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change a comment, within 15 minutes",
  },
  {
    id: "deleteComment",
    method: "DELETE",
    path: "/comments/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Delete a comment",
  },
] as const satisfies readonly RouteDeclaration[];
