import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { freshSeconds, staleIfErrorSeconds } from "../groups.ts";

/**
 * For responses to anonymous clients, which are public although the routes are `private`: only callers with a token can get private fields.
 * Browsers revalidate each time, because no invalidation reaches them. The REST proxy follows every write; `sharedSeconds` is low because
 * other shared caches follow none.
 */
const freshness = {
  browserSeconds: 0,
  sharedSeconds: freshSeconds,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds,
} as const;

export const routes = [
  {
    id: "listUsers",
    method: "GET",
    path: "/users",
    versions: [1, 2],
    query: ["limit", "cursor", "role", "search", "sort"],
    cache: "private",
    freshness,
    priority: "background",
    summary: "Active users, newest first",
  },
  {
    id: "getUser",
    method: "GET",
    path: "/users/:id",
    versions: [1, 2],
    cache: "private",
    freshness,
    summary: "One user",
  },
  {
    id: "createUser",
    method: "POST",
    path: "/users",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1, 2], required: [] },
    summary: "Create a user",
  },
  {
    id: "updateUser",
    method: "PATCH",
    path: "/users/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change a user",
  },
] as const satisfies readonly RouteDeclaration[];
