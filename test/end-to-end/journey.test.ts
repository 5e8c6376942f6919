import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Platform, type ServiceName, startPlatform } from "./platform.ts";

const acrossAll = `{ user(id: 1) { name email posts { title comments { body author { name } } }
  orders { total { display } lines { product { title post { title } } } } } }`;

let platform: Platform;
let ada: string;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  ada = await platform.tokenOf("1");
});
afterAll(() => platform.stop());

test("one query returns data of all four services", async () => {
  const { status, body } = await platform.graphql(acrossAll, { token: ada });
  expect(status).toBe(200);
  expect(body.errors).toBeUndefined();
  const { user } = body.data;
  expect(user).toMatchObject({ name: "Ada Lovelace", email: "ada.lovelace@example.org" });
  expect(user.posts).toHaveLength(20);
  const comment = user.posts.flatMap((post: { comments: unknown[] }) => post.comments)[0];
  expect(comment.author.name).toEqual(expect.any(String));
  expect(user.orders[0].total.display).toMatch(/\d/);
  expect(user.orders[0].lines[0].product.post.title).toEqual(expect.any(String));
});

test("without a token private fields are null with an error each, and the other fields are complete", async () => {
  const { status, body } = await platform.graphql(acrossAll);
  expect(status).toBe(200);
  expect(body.data.user).toMatchObject({ name: "Ada Lovelace", email: null, orders: null });
  expect(body.data.user.posts).toHaveLength(20);
  expect(body.errors.map(({ path, extensions }: never) => ({ path, extensions }))).toEqual(
    expect.arrayContaining([
      { path: ["user", "email"], extensions: { code: "UNAUTHENTICATED", service: "users" } },
      { path: ["user", "orders"], extensions: { code: "UNAUTHENTICATED", service: "orders" } },
    ]),
  );
});

test("twenty users with posts, comments and authors cost at most eight statements", async () => {
  const query = `{ users(first: 20) { nodes { name posts(first: 10) { title author { name } commentCount comments(first: 10) { body author { name } } } } } }`;
  takeStatements();
  const { body } = await platform.graphql(query);
  expect(body.errors).toBeUndefined();
  expect(body.data.users.nodes).toHaveLength(20);
  expect(takeStatements().length).toBeLessThanOrEqual(8);
});

test("introspection returns the schema", async () => {
  const { body } = await platform.graphql(
    `{ __schema { queryType { name } } __type(name: "Post") { fields(includeDeprecated: true) { name isDeprecated } } }`,
  );
  expect(body.data.__schema.queryType.name).toBe("Query");
  expect(body.data.__type.fields).toContainEqual({ name: "body", isDeprecated: true });
});

test("an invalid query gets 200 with errors, and no statement is executed", async () => {
  takeStatements();
  const { status, body } = await platform.graphql("{ user(id: 1) { nothing } }");
  expect([status, body.data, body.errors[0].extensions.code]).toEqual([200, undefined, "GRAPHQL_VALIDATION_FAILED"]);
  expect(takeStatements()).toEqual([]);
});

test("an unknown operationName is a request error", async () => {
  const { status, body } = await platform.graphql("query A { me { id } }", { operationName: "B" });
  expect([status, body.errors.length]).toEqual([200, 1]);
  const strict = { accept: "application/graphql-response+json" };
  expect((await platform.graphql("query A { me { id } }", { operationName: "B", headers: strict })).status).toBe(400);
});

test("a path without a version gets version 2, the current one", async () => {
  const current = await platform.rest("GET", "/v2/users/1");
  const unversioned = await platform.rest("GET", "/users/1");
  expect([unversioned.status, unversioned.headers.get("api-version"), unversioned.text]).toEqual([
    200,
    "2",
    current.text,
  ]);
});

test("version 1 responds under its own path", async () => {
  const user = await platform.rest("GET", "/v1/users/1");
  expect([user.status, user.body.name, user.body.email]).toEqual([200, "Ada Lovelace", null]);
  expect((await platform.rest("GET", "/v1/users/1", { token: ada })).body.email).toBe("ada.lovelace@example.org");
  const posts = await platform.rest("GET", "/v1/users/1/posts");
  expect(posts.body).toHaveLength(20);
  expect(posts.body[0]).toMatchObject({ authorId: "1", published: true });
  const comments = await platform.rest("GET", "/v1/posts/1/comments");
  expect(comments.body[0]).toMatchObject({ postId: "1", text: expect.any(String) });
  expect((await platform.rest("GET", "/v1/comments")).body).toHaveLength(20);
  expect((await platform.rest("GET", "/v1/posts/999999/comments")).body).toEqual([]);
});

test("the Link header of a page leads to the next page through the proxy", async () => {
  const first = await platform.rest("GET", "/v1/posts?limit=2");
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
  const second = await platform.rest("GET", next);
  expect(second.status).toBe(200);
  expect(Number(second.body[0].id)).toBeLessThan(Number(first.body[1].id));
});

test("an idempotency key places one order, through REST and GraphQL", async () => {
  const body = { lines: [{ sku: "PRINT-0001", qty: 2 }] };
  const headers = { "idempotency-key": "journey-1" };
  const placed = await platform.rest("POST", "/v1/orders", { token: ada, body, headers });
  expect([placed.status, placed.headers.get("location")]).toEqual([201, `/v1/orders/${placed.body.id}`]);
  const repeated = await platform.rest("POST", "/v1/orders", { token: ada, body, headers });
  expect([repeated.status, repeated.text]).toEqual([201, placed.text]);
  const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id total { display } } } }`;
  const input = { lines: [{ sku: "PRINT-0001", quantity: 2 }], idempotencyKey: "journey-1" };
  const graph = await platform.graphql(place, { token: ada, variables: { input } });
  expect(graph.body.data.placeOrder.order.id).toBe(placed.body.id);
  const other = { lines: [{ sku: "PRINT-0001", qty: 3 }] };
  expect((await platform.rest("POST", "/v1/orders", { token: ada, body: other, headers })).status).toBe(422);
  expect((await platform.rest("GET", `/v1/orders/${placed.body.id}`, { token: ada })).status).toBe(200);
  expect(
    (await platform.rest("GET", `/v1/orders/${placed.body.id}`, { token: await platform.tokenOf("2") })).status,
  ).toBe(404);
});

test("each rejected request gets its status and a problem document", async () => {
  const body = { lines: [{ sku: "PRINT-0001", qty: 1 }] };
  const post = (o: object) => platform.rest("POST", "/v1/orders", o);
  const responses = {
    401: await post({ body }),
    403: await post({ body, token: await platform.tokenOf("1", []) }),
    404: await platform.rest("GET", "/v1/orders/none", { token: ada }),
    405: await platform.rest("PUT", "/v1/users/1", { body }),
    415: await post({ body: "lines", token: ada, headers: { "content-type": "text/plain" } }),
    422: await post({
      body: {
        lines: [
          { sku: "PRINT-0001", qty: 0 },
          { sku: "none", qty: 1, price: 1 },
        ],
      },
      token: ada,
    }),
    400: await post({ body: "{ broken", token: ada }),
  };
  for (const [status, response] of Object.entries(responses)) {
    expect([response.status, response.headers.get("content-type")]).toEqual([
      Number(status),
      "application/problem+json",
    ]);
    expect(response.body).toMatchObject({
      status: Number(status),
      type: expect.stringMatching(/^\/problems\/[a-z-]+$/),
    });
  }
  expect(responses[422].body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "#/lines/0/qty",
    "#/lines/1/price",
  ]);
  expect(responses[405].headers.get("allow")).toContain("GET");
});

const outages: readonly (readonly [
  service: ServiceName,
  query: string,
  failedPath: readonly string[],
  completeField: string,
  route: string,
])[] = [
  [
    "users",
    `{ user(id: 1) { name } posts(first: 1) { nodes { title author { name } } } }`,
    ["user"],
    "posts",
    "/v1/users?limit=3",
  ],
  ["posts", `{ user(id: 1) { name posts { title } } }`, ["user", "posts"], "user", "/v1/posts?limit=3"],
  ["comments", `{ post(id: 1) { title comments { body } } }`, ["post", "comments"], "post", "/v1/comments?limit=3"],
  ["orders", `{ user(id: 1) { name orders { id } } }`, ["user", "orders"], "user", "/v1/products?limit=3"],
];

test.each(outages)(
  "while %s is down, other fields and its cached resources are returned, and afterwards everything is complete",
  async (service, query, failedPath, completeField, route) => {
    const complete = await platform.graphql(query, { token: ada });
    expect(complete.body.errors).toBeUndefined();
    const stored = await platform.rest("GET", `${route}0`);

    await platform.services[service].goDown();
    const partial = await platform.graphql(query, { token: ada });
    expect(partial.status).toBe(200);
    expect(partial.body.data[completeField]).not.toBeNull();
    const error = partial.body.errors.find(({ path }: { path: string[] }) => path.join() === failedPath.join());
    expect(error).toMatchObject({ path: failedPath, extensions: { service, code: expect.any(String) } });
    expect(JSON.stringify(partial.body)).not.toMatch(/127\.0\.0\.1|ECONN/);
    const problem = await platform.rest("GET", route);
    expect([problem.status, problem.headers.get("content-type")]).toEqual([502, "application/problem+json"]);
    expect(problem.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(problem.text).not.toMatch(/127\.0\.0\.1|ECONN/);
    // The cached response is served stale within its stale-if-error time.
    const stale = await platform.rest("GET", `${route}0`);
    expect([stale.status, stale.body]).toEqual([200, stored.body]);

    await platform.services[service].comeUp();
    expect((await platform.graphql(query, { token: ada })).body).toEqual(complete.body);
    expect((await platform.rest("GET", route)).status).toBe(200);
  },
);

function takeStatements(): readonly string[] {
  return Object.values(platform.services).flatMap(({ database }) => [...database.takeStatements()]);
}
