import type { RouteDeclaration } from "@tributary/kit/routes";

/** The users team's public routes. Composition merges them with the other teams' into the proxy's table. */
export const routes = [
  {
    id: "listUsers",
    method: "GET",
    path: "/users",
    versions: [1],
    query: ["limit", "cursor", "role", "search"],
    cache: "private",
    summary: "Active users, newest first",
  },
  { id: "getUser", method: "GET", path: "/users/:id", versions: [1], cache: "private", summary: "One user" },
  { id: "createUser", method: "POST", path: "/users", versions: [1], cache: "none", summary: "Create a user" },
  { id: "updateUser", method: "PATCH", path: "/users/:id", versions: [1], cache: "none", summary: "Change a user" },
] as const satisfies readonly RouteDeclaration[];
