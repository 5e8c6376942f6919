import { expect, test } from "vitest";
import type { RouteSource } from "./route-sources.ts";
import { mergeRoutes, printRoutes } from "./routes.ts";

test("the services' routes are merged into one list, sorted by path, then method", () => {
  const merged = mergeRoutes([
    routesOf("users", { id: "getUser", path: "/users/:id" }, { id: "createUser", method: "POST" }, { id: "listUsers" }),
    routesOf("posts", { id: "listPosts", path: "/posts", query: ["limit"] }),
  ]);
  expect(merged.ok && merged.routes.map(({ method, path, service }) => `${method} ${path} ${service}`)).toEqual([
    "GET /posts posts",
    "GET /users users",
    "POST /users users",
    "GET /users/:id users",
  ]);
});

test("routes.json contains the properties that the proxy reads, an empty query list included", () => {
  const merged = mergeRoutes([routesOf("users", { id: "listUsers" })]);
  expect(JSON.parse(printRoutes(merged.ok ? merged.routes : []))).toEqual({
    routes: [
      {
        id: "listUsers",
        method: "GET",
        path: "/users",
        versions: [1],
        query: [],
        cache: "private",
        service: "users",
        summary: "A summary.",
      },
    ],
  });
});

test("a route that two services declare is an error that names both owners with their lines", () => {
  const merged = mergeRoutes([
    routesOf("users", { id: "listUsers" }, { id: "getUser", path: "/users/:id" }),
    routesOf("posts", { id: "readUser", path: "/users/:id" }),
  ]);
  expect(merged.ok ? [] : merged.errors).toMatchObject([
    {
      code: "ROUTE_DUPLICATE",
      message: expect.stringContaining("@tributary/users-team and @tributary/posts-team"),
      owner: "@tributary/users-team",
      line: 2,
      elsewhere: [{ owner: "@tributary/posts-team", file: "services/posts/src/rest/routes.ts", line: 1 }],
    },
  ]);
});

test("two routes that differ only in the name of a parameter are the same route", () => {
  expect(
    codesOf(routesOf("users", { path: "/users/:id" }), routesOf("posts", { id: "b", path: "/users/:userId" })),
  ).toEqual(["ROUTE_DUPLICATE"]);
});

test("a literal segment and a parameter at the same position are two routes", () => {
  expect(codesOf(routesOf("users", { path: "/users/:id" }, { id: "me", path: "/users/me" }))).toEqual([]);
});

test("the same path with another method is another route", () => {
  expect(codesOf(routesOf("users", {}, { id: "createUser", method: "POST" }))).toEqual([]);
});

test("an id that two services use is an error", () => {
  expect(codesOf(routesOf("users", {}), routesOf("posts", { path: "/posts" }))).toEqual(["ROUTE_ID_DUPLICATE"]);
});

const fresh = { browserSeconds: 5, sharedSeconds: 10, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 };

test("heuristic freshness is in routes.json", () => {
  const merged = mergeRoutes([routesOf("users", { cache: "public", heuristicSecondsMax: 60 })]);
  expect(printRoutes(merged.ok ? merged.routes : [])).toContain('"cache":"public","heuristicSecondsMax":60');
});

test("a declared priority is in routes.json, for a read and for a write", () => {
  const search = { priority: "background" };
  const view = { id: "recordView", method: "POST", path: "/views", priority: "normal" };
  const merged = mergeRoutes([routesOf("users", search, view)]);
  expect(merged.ok && merged.routes.map(({ id, priority }) => [id, priority])).toEqual([
    ["listUsers", "background"],
    ["recordView", "normal"],
  ]);
});

test("freshness, private parameters and idempotency keys are valid, and only the keys are in routes.json", () => {
  const listed = { cache: "public", query: ["status"], privateWith: ["status"], freshness: fresh };
  const keyed = { id: "placeOrder", method: "POST", idempotencyKey: { optional: [1], required: [] } };
  const merged = mergeRoutes([routesOf("users", listed, keyed)]);
  const [list, place] = merged.ok ? merged.routes : [];
  expect([list?.id, place?.id]).toEqual(["listUsers", "placeOrder"]);
  expect(place?.idempotencyKey).toEqual(keyed.idempotencyKey);
  expect(printRoutes(merged.ok ? merged.routes : [])).not.toContain("freshness");
});

test.each([
  ["a version in the path", { path: "/v1/users" }],
  ["a path that the proxy handles itself", { path: "/health/live" }],
  ["a slash at the end", { path: "/users/" }],
  ["a capital letter in a fixed segment", { path: "/Users" }],
  ["an unknown method", { method: "PUT" }],
  ["no version", { versions: [] }],
  ["versions out of order", { versions: [2, 1] }],
  ["a version that is not an integer", { versions: [1.5] }],
  ["an unknown priority", { priority: "high" }],
  ["an unknown cacheability", { cache: "forever" }],
  ["an empty summary", { summary: "" }],
  ["a query that is not a list", { query: "limit" }],
  ["a path of the problem documentation", { path: "/problems/all" }],
  ["freshness for uncacheable responses", { cache: "none", freshness: fresh }],
  ["freshness of a fraction of a second", { cache: "public", freshness: { ...fresh, browserSeconds: 0.5 } }],
  ["sharedSeconds above 10", { cache: "public", freshness: { ...fresh, sharedSeconds: 11 } }],
  ["heuristic freshness for responses that differ by caller", { cache: "private", heuristicSecondsMax: 60 }],
  ["heuristic freshness of more than a day", { cache: "public", heuristicSecondsMax: 86_401 }],
  ["a private parameter that is not a query parameter", { cache: "public", query: ["limit"], privateWith: ["status"] }],
  ["an idempotency key for a method other than POST", { idempotencyKey: { optional: [1], required: [] } }],
  [
    "an idempotency key for a version that the route does not have",
    { method: "POST", idempotencyKey: { optional: [2], required: [] } },
  ],
])("a declaration with %s is rejected", (_, declaration) => {
  expect(codesOf(routesOf("users", declaration))).toEqual(["ROUTES_INVALID"]);
});

test("a declaration that is not an object is rejected", () => {
  const source = { ...routesOf("users"), declarations: [null] };
  expect(codesOf(source)).toContain("ROUTES_INVALID");
});

const memberNames = ["id", "method", "path", "versions", "query", "cache", "freshness", "heuristicSecondsMax"];

test.each([...memberNames, "privateWith", "idempotencyKey", "priority", "summary"])(
  "a declaration whose %s has another type is rejected",
  (name) => {
    const others = { query: ["limit"], privateWith: ["limit"], idempotencyKey: { optional: [1], required: [] } };
    for (const value of [null, 5, true, {}, [null]]) {
      expect(codesOf(routesOf("users", { [name]: value }))).toEqual(["ROUTES_INVALID"]);
      expect(codesOf(routesOf("users", { ...others, [name]: value }))).toContain("ROUTES_INVALID");
    }
  },
);

test("a file without a list of routes is rejected, with the message of a failed import", () => {
  const source = { ...routesOf("users"), declarations: undefined };
  expect(mergeRoutes([source])).toMatchObject({ errors: [{ message: expect.stringContaining("called routes") }] });
  expect(mergeRoutes([{ ...source, failure: "boom" }])).toMatchObject({ errors: [{ message: "boom" }] });
});

test("a missing file is rejected, naming its owner", () => {
  const merged = mergeRoutes([{ ...routesOf("users"), text: undefined, declarations: undefined }]);
  expect(merged).toMatchObject({
    errors: [
      {
        code: "ROUTES_MISSING",
        owner: "@tributary/users-team",
        message: expect.stringContaining("Restore it, or delete the service's service.json"),
      },
    ],
  });
});

function routesOf(name: string, ...routes: readonly object[]): RouteSource {
  const complete = {
    id: "listUsers",
    method: "GET",
    path: "/users",
    versions: [1],
    cache: "private",
    summary: "A summary.",
  };
  const declarations = routes.map((route) => Object.assign({}, complete, route));
  const text = declarations.map(({ id }) => `  { id: "${id}" }`).join("\n");
  return { name, owner: `@tributary/${name}-team`, file: `services/${name}/src/rest/routes.ts`, text, declarations };
}

function codesOf(...sources: readonly RouteSource[]): readonly string[] {
  const merged = mergeRoutes(sources);
  return merged.ok ? [] : merged.errors.map(({ code }) => code);
}
