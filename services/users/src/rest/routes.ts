import type { RouteDeclaration } from "@tributary/kit/rest/routes";

/**
 * For what everybody sees of users. A browser asks each time, for nothing tells it of changes. Shared caches hear of writes by REST, and
 * ask in time for those by GraphQL. Whoever gives an account up is not shown for long after, whatever fails.
 */
const freshness = {
  browserSeconds: 0,
  sharedSeconds: 10,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds: 60,
} as const;

/** The users team's public routes. Composition merges them with the other teams' into the proxy's table. */
export const routes = [
  {
    id: "listUsers",
    method: "GET",
    path: "/users",
    versions: [1, 2],
    query: ["limit", "cursor", "role", "search", "sort"],
    cache: "private",
    freshness,
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
  { id: "createUser", method: "POST", path: "/users", versions: [1, 2], cache: "none", summary: "Create a user" },
  {
    id: "updateUser",
    method: "PATCH",
    path: "/users/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change a user",
  },
] as const satisfies readonly RouteDeclaration[];
