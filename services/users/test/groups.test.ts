import { testCacheGroups } from "@tributary/kit/testing/cache-groups";
import { groupsOfChange } from "../src/groups.ts";
import { routes } from "../src/rest/routes.ts";
import { startUsers, usual } from "./fixtures.ts";

const fresh = { name: "Fresh Name" };

// Of `startUsers`: Ada 1, Grace 2, Linus 3, who has no private data. 4 is deactivated, 5 is a second author.
testCacheGroups({
  service: "users",
  start: startUsers,
  routes,
  schema: new URL("../schema.graphql", import.meta.url),
  groupsOfChange,
  seed: `insert into users (name, role, deactivated_at) values ('Former user', 'READER', now()), ('Ada Byron', 'AUTHOR', null)`,
  callers: { ada: ["1", ...usual], grace: ["2", ...usual], admin: ["2", "users:write:all"] },
  reads: [
    ...["/users", "/users?limit=1", "/users?limit=3&sort=oldest", "/users?role=AUTHOR&limit=1", "/users?role=ADMIN"],
    ...["/users?search=ada", "/users?search=fresh"],
    ...["/users/1", "/users/2", "/users/3", "/users/4", "/users/5", "/users/99", "/users/malformed"],
  ],
  queries: [
    ...["1", "2", "4", "99", "malformed"].map((id) => `user(id: "${id}")`),
    ...["me", "users", "users(first: 1)", "users(role: ADMIN)", 'users(search: "fresh")'],
  ],
  entities: ["1", "2", "3", "4", "5", "99"].map((id) => ({ __typename: "User", id })),
  writes: {
    visible: [
      { rest: "POST /users", as: "admin", body: { ...fresh, role: "ADMIN" } },
      ...["1", "2", "5"].map((id) => ({ rest: `PATCH /users/${id}`, as: "admin", body: fresh })),
      { rest: "PATCH /users/1", as: "admin", body: { role: "ADMIN" } },
      { rest: "PATCH /v1/users/1", as: "ada", body: { avatarUrl: null } },
      { rest: "PATCH /v2/users/1", as: "ada", body: { avatar: null } },
      // A change of private data alters the ETag of the public response too.
      { rest: "PATCH /v1/users/1", as: "ada", body: { prefs: { newsletter: true } } },
      { rest: "PATCH /v2/users/1", as: "ada", body: { private: { email: "fresh@example.org" } } },
      { mutation: "createUser", as: "admin", input: fresh },
      { mutation: "updateUser", as: "ada", input: { id: "1", ...fresh } },
      { mutation: "updateUser", as: "admin", input: { id: "5", role: "EDITOR" } },
      ...["1", "3", "5"].map((id) => ({ mutation: "deactivateUser", as: "admin", input: { id } })),
      { sql: "update users set name = 'Fresh Name'" },
      { sql: "update users set deactivated_at = null where id = 4" },
      { sql: "delete from users" },
    ],
    hidden: [{ mutation: "updateUser", as: "ada", input: { id: "1" } }, { sql: "update users set name = name" }],
    rejected: [
      { rest: "PATCH /users/1", as: "grace", body: fresh },
      { rest: "PATCH /users/4", as: "admin", body: fresh },
      { rest: "POST /v1/users", as: "admin", body: { ...fresh, email: "ada@example.org" } },
      { mutation: "deactivateUser", as: "admin", input: { id: "4" } },
    ],
  },
  tables: {
    users: {
      insert: "(name, role) values ('Fresh Name', 'ADMIN')",
      where: "id = 3",
      update: {
        id: "99",
        name: "'Fresh Name'",
        email: "'fresh@example.org'",
        avatar_url: "'https://example.org/fresh.png'",
        role: "'ADMIN'",
        prefs: "'{}'",
        created_at: "now() + interval '1 s'",
        deactivated_at: "now()",
        row_version: "1",
      },
    },
  },
});
