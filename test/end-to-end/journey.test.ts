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

test("one query is answered with data of all four services", async () => {
  const { status, body } = await platform.ask(acrossAll, { token: ada });
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

test("without a token what is private is null with entries, and the rest is there", async () => {
  const { status, body } = await platform.ask(acrossAll);
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
  const { body } = await platform.ask(query);
  expect(body.errors).toBeUndefined();
  expect(body.data.users.nodes).toHaveLength(20);
  expect(takeStatements().length).toBeLessThanOrEqual(8);
});

test("the graph describes itself", async () => {
  const { body } = await platform.ask(
    `{ __schema { queryType { name } } __type(name: "Post") { fields(includeDeprecated: true) { name isDeprecated } } }`,
  );
  expect(body.data.__schema.queryType.name).toBe("Query");
  expect(body.data.__type.fields).toContainEqual({ name: "body", isDeprecated: true });
});

test("a query that does not validate is 200 with errors, and nothing ran", async () => {
  takeStatements();
  const { status, body } = await platform.ask("{ user(id: 1) { nothing } }");
  expect([status, body.data, body.errors[0].extensions.code]).toEqual([200, undefined, "GRAPHQL_VALIDATION_FAILED"]);
  expect(takeStatements()).toEqual([]);
});

test("an operation that the document does not have is the client's mistake", async () => {
  const { status, body } = await platform.ask("query A { me { id } }", { operationName: "B" });
  expect([status, body.errors.length]).toEqual([200, 1]);
  const strict = { accept: "application/graphql-response+json" };
  expect((await platform.ask("query A { me { id } }", { operationName: "B", headers: strict })).status).toBe(400);
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

test("pages are followed through the proxy", async () => {
  const first = await platform.rest("GET", "/v1/posts?limit=2");
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
  const second = await platform.rest("GET", next);
  expect(second.status).toBe(200);
  expect(Number(second.body[0].id)).toBeLessThan(Number(first.body[1].id));
});

test("an order is placed once for one key, through both doors", async () => {
  const body = { lines: [{ sku: "PRINT-0001", qty: 2 }] };
  const headers = { "idempotency-key": "journey-1" };
  const placed = await platform.rest("POST", "/v1/orders", { token: ada, body, headers });
  expect([placed.status, placed.headers.get("location")]).toEqual([201, `/v1/orders/${placed.body.id}`]);
  const again = await platform.rest("POST", "/v1/orders", { token: ada, body, headers });
  expect([again.status, again.text]).toEqual([201, placed.text]);
  const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id total { display } } } }`;
  const input = { lines: [{ sku: "PRINT-0001", quantity: 2 }], idempotencyKey: "journey-1" };
  const graph = await platform.ask(place, { token: ada, variables: { input } });
  expect(graph.body.data.placeOrder.order.id).toBe(placed.body.id);
  const other = { lines: [{ sku: "PRINT-0001", qty: 3 }] };
  expect((await platform.rest("POST", "/v1/orders", { token: ada, body: other, headers })).status).toBe(422);
  expect((await platform.rest("GET", `/v1/orders/${placed.body.id}`, { token: ada })).status).toBe(200);
  expect(
    (await platform.rest("GET", `/v1/orders/${placed.body.id}`, { token: await platform.tokenOf("2") })).status,
  ).toBe(404);
});

test("each refusal has its status, as a problem", async () => {
  const body = { lines: [{ sku: "PRINT-0001", qty: 1 }] };
  const post = (o: object) => platform.rest("POST", "/v1/orders", o);
  const refusals = {
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
  for (const [status, answer] of Object.entries(refusals)) {
    expect([answer.status, answer.headers.get("content-type")]).toEqual([Number(status), "application/problem+json"]);
    expect(answer.body).toMatchObject({ status: Number(status), type: expect.stringMatching(/^\/problems\/[a-z-]+$/) });
  }
  expect(refusals[422].body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "#/lines/0/qty",
    "#/lines/1/price",
  ]);
  expect(refusals[405].headers.get("allow")).toContain("GET");
});

const losses: readonly (readonly [
  service: ServiceName,
  query: string,
  lost: readonly string[],
  kept: string,
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

test.each(losses)(
  "without %s the others' fields and copies of its resources still come, and when it is back all is well",
  async (service, query, lost, kept, route) => {
    const whole = await platform.ask(query, { token: ada });
    expect(whole.body.errors).toBeUndefined();
    const copied = await platform.rest("GET", `${route}0`);

    await platform.services[service].goDown();
    const partial = await platform.ask(query, { token: ada });
    expect(partial.status).toBe(200);
    expect(partial.body.data[kept]).not.toBeNull();
    const error = partial.body.errors.find(({ path }: { path: string[] }) => path.join() === lost.join());
    expect(error).toMatchObject({ path: lost, extensions: { service, code: expect.any(String) } });
    expect(JSON.stringify(partial.body)).not.toMatch(/127\.0\.0\.1|ECONN/);
    const problem = await platform.rest("GET", route);
    expect([problem.status, problem.headers.get("content-type")]).toEqual([502, "application/problem+json"]);
    expect(problem.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(problem.text).not.toMatch(/127\.0\.0\.1|ECONN/);
    // What was asked before is answered from its copy, for as long as the team said that it may be.
    const copy = await platform.rest("GET", `${route}0`);
    expect([copy.status, copy.body]).toEqual([200, copied.body]);

    await platform.services[service].comeUp();
    expect((await platform.ask(query, { token: ada })).body).toEqual(whole.body);
    expect((await platform.rest("GET", route)).status).toBe(200);
  },
);

function takeStatements(): readonly string[] {
  return Object.values(platform.services).flatMap(({ database }) => [...database.takeStatements()]);
}
