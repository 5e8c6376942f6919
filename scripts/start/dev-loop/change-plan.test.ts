import { expect, test } from "vitest";
import { partNames } from "../parts.ts";
import { planChanges } from "./change-plan.ts";

test.each([
  ["services/users/src/store.ts", { code: ["users"] }],
  ["gateway/src/plan/planner.ts", { code: ["gateway"] }],
  ["infra/issuer/src/app.ts", { code: ["issuer"] }],
  ["kit/src/process/log.ts", { code: [...partNames] }],
  ["services/orders/schema.graphql", { schemas: ["orders"] }],
  ["services/posts/src/rest/routes.ts", { code: ["posts"], routes: ["posts"] }],
  ["services/posts/migrations/0002-more.sql", { code: ["posts"], migrations: ["posts"] }],
  ["services/posts/test/endpoints.ts", {}],
  ["services/posts/codegen.json", {}],
  ["docs/a.ts", {}],
])("%s leads to %j", (path, expected) => {
  expect(plain([path])).toEqual({ schemas: [], routes: [], migrations: [], code: [], ...expected });
});

test("several saved files make one plan", () => {
  expect(plain(["services/users/src/a.ts", "services/users/src/b.ts", "services/posts/schema.graphql"])).toEqual({
    schemas: ["posts"],
    routes: [],
    migrations: [],
    code: ["users"],
  });
});

function plain(paths: readonly string[]) {
  const { schemas, routes, migrations, code } = planChanges(paths);
  return {
    schemas: [...schemas],
    routes: [...routes],
    migrations: [...migrations],
    code: partNames.filter((name) => code.has(name)),
  };
}
