import { readFileSync } from "node:fs";
import { buildSchema } from "graphql";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { auditComments, selectTextsOf } from "../../scripts/verify/traffic/audit.ts";
import { clientScopes, startClients } from "../../scripts/verify/traffic/clients.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { collectUsers, findUserPaths, listFieldsById, toUserQuery } from "./user-paths.ts";

let platform: Platform;
let ada: string;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  ada = await platform.tokenOf("1");
});
afterAll(() => platform.stop());

test("the clients of the verifications find no failure on an idle platform, and the audit a comment that is missing", async () => {
  const { gatewayUrl, proxyUrl, tokenOf } = platform;
  const endpoints = { graphqlUrl: gatewayUrl, restUrl: proxyUrl };
  const options = { tokenOf: (userId: string) => tokenOf(userId, clientScopes), run: "clients", perSecond: 8 };
  const clients = await startClients({ ...endpoints, ...options });
  await expect.poll(() => Math.min(clients.orders.length, clients.comments.size)).toBeGreaterThan(4);
  await clients.stop();
  expect(clients.failures).toEqual([]);
  const { database } = platform.services.comments.database;
  const rows = await database.rows<{ readonly body: string }>("texts", selectTextsOf("clients"), []);
  const [first = "", ...others] = rows.map(({ body }) => body);
  expect(auditComments([first, ...others], clients.comments)).toMatchObject({ stored: rows.length, isRight: true });
  const wrong = auditComments([first, first, ...others], new Set([...clients.comments, "never written"]));
  expect(wrong).toMatchObject({ lost: ["never written"], duplicated: [first], isRight: false });
});

describe("one platform", () => {
  const acrossAll = `{ user(id: 1) { name email posts { title comments { body author { name } } }
  orders { total { display } lines { product { title post { title } } } } } }`;

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

  test("a GraphQL client gets the codes of the service and of the kit, with messages and problems", async () => {
    const update = `mutation { updateUser(input: { id: 1, email: "grace.hopper@example.org" }) { user { id } } }`;
    const taken = await platform.graphql(update, { token: ada });
    expect(taken.body.errors).toMatchObject([
      {
        message: "Another user has this email address.",
        extensions: { code: "CONFLICT", service: "users", problems: [{ pointer: "#/email", code: "taken" }] },
      },
    ]);
    const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } } }`;
    const placeLine = (line: object) =>
      platform.graphql(place, { token: ada, variables: { input: { lines: [line], idempotencyKey: "codes-1" } } });
    expect((await placeLine({ sku: "PRINT-0001", quantity: 1 })).body.errors).toBeUndefined();
    const reused = await placeLine({ sku: "PRINT-0001", quantity: 2 });
    expect(reused.body.errors).toMatchObject([{ extensions: { code: "IDEMPOTENCY_KEY_REUSED" } }]);
    const page = await platform.graphql(`{ posts(after: "x") { nodes { id } } }`);
    expect(page.body.errors).toMatchObject([{ extensions: { code: "INVALID_CURSOR", service: "posts" } }]);
  });

  test("a body in the vendor type of its version creates an order, and a PATCH needs the type of its patch", async () => {
    const headers = { "content-type": "application/vnd.tributary.v1+json" };
    const body = { lines: [{ sku: "PRINT-0001", qty: 1 }] };
    expect((await platform.rest("POST", "/v1/orders", { token: ada, body, headers })).status).toBe(201);
    expect((await platform.rest("POST", "/v2/orders", { token: ada, body, headers })).status).toBe(415);
    const patched = await platform.rest("PATCH", "/v1/users/1", { token: ada, body: { name: "Ada" }, headers });
    expect([patched.status, patched.headers.get("accept-patch")]).toEqual([415, "application/merge-patch+json"]);
  });

  test("the instance of a problem is the public path, without the path inside the service and without the query", async () => {
    const instanceAt = async (path: string) => (await platform.rest("GET", path, { token: ada })).body.instance;
    expect(await instanceAt("/v2/orders?limit=0&cursor=secret")).toBe("/v2/orders");
    expect(await instanceAt("/v1/orders/none")).toBe("/v1/orders/none");
    expect(await instanceAt("/v1/orders?none=secret")).toBe("/v1/orders");
    // The service chooses the path of its problem: with the version, so that all clients of one cached URL get the same.
    expect(await instanceAt("/orders/none")).toBe("/v2/orders/none");
    for (const path of ["/v9/orders", "/v2/none"])
      expect((await platform.services.orders.rest("GET", path)).body.instance).toBe(path);
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
});

describe("privacy", () => {
  const schema = buildSchema(readFileSync(new URL("../../supergraph/api.graphql", import.meta.url), "utf8"));
  const paths = findUserPaths(schema);
  /** Arguments of root fields. They select Ada's rows, so that the paths lead to private data. */
  const rootArguments: Record<string, string> = {
    ...Object.fromEntries(listFieldsById(schema).map((name) => [name, "(id: 1)"])),
    user: "(id: 1)",
    comment: "(id: 1)",
    product: '(sku: "PRINT-0001")',
  };

  beforeAll(async () => {
    const adasRows = `{ user(id: 1) { posts(first: 1) { id } orders(first: 1) { id } } }`;
    const { user } = (await platform.graphql(adasRows, { token: ada })).body.data;
    rootArguments["post"] = `(id: "${user.posts[0].id}")`;
    rootArguments["order"] = `(id: "${user.orders[0].id}")`;
  });

  test("more than 15 paths of the schema lead to a user", () => {
    expect(paths.length).toBeGreaterThan(15);
    expect(paths).toContainEqual(["comments", "nodes", "post", "author"]);
  });

  test.each([undefined, "2"])("no path returns private data of other users to the user %s", async (userId) => {
    const token = userId === undefined ? {} : { token: await platform.tokenOf(userId) };
    for (const path of paths) {
      const { body } = await platform.graphql(toUserQuery(path, rootArguments), token);
      expect(body.data, path.join()).toBeDefined();
      for (const user of collectUsers(body.data).filter(({ id }) => id !== userId)) {
        expect(user, path.join()).toMatchObject({ email: null, prefs: null, orders: null });
      }
      for (const { extensions } of body.errors ?? [])
        expect(extensions.code, path.join()).toBe(userId ? "FORBIDDEN" : "UNAUTHENTICATED");
    }
  });

  test("a draft is visible only to its author", async () => {
    const create = `mutation { createPost(input: { title: "Not yet" }) { post { id } } }`;
    const { body } = await platform.graphql(create, { token: ada });
    const { id } = body.data.createPost.post;
    const comment = `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }`;
    const added = await platform.graphql(comment, {
      token: ada,
      variables: { input: { postId: id, body: "A note to myself." } },
    });
    const commentId = added.body.data.addComment.comment.id;
    const query = `{ post(id: ${id}) { title } comment(id: ${commentId}) { post { title } } user(id: 1) { posts(first: 100) { id } } }`;
    for (const token of [undefined, await platform.tokenOf("2")]) {
      const { data, errors } = (await platform.graphql(query, token === undefined ? {} : { token })).body;
      expect(data).toMatchObject({ post: null, comment: { post: null } });
      const message = "The object of this field is not available.";
      expect(errors).toEqual([{ message, path: ["comment", "post", "title"], extensions: { code: "NOT_FOUND" } }]);
      expect(data.user.posts).not.toContainEqual({ id });
      expect((await platform.rest("GET", `/v1/posts/${id}`, token === undefined ? {} : { token })).status).toBe(404);
    }
    expect((await platform.graphql(query, { token: ada })).body.data.comment.post.title).toBe("Not yet");
    expect((await platform.rest("GET", `/v1/posts/${id}`, { token: ada })).status).toBe(200);
  });

  test("identity headers and cookies of a client do not authenticate it", async () => {
    const headers = { "x-user-id": "1", "x-forwarded-user": "1", "x-scopes": "users:read:private", cookie: "user=1" };
    const graph = await platform.graphql("{ me { id } user(id: 1) { email } }", { headers });
    expect(graph.body.data).toEqual({ me: null, user: { email: null } });
    expect((await platform.rest("GET", "/v1/users/1", { headers })).body.email).toBeNull();
    expect((await platform.rest("GET", "/v1/orders", { headers })).status).toBe(401);
  });

  test("a scope grants access to its fields only", async () => {
    const token = await platform.tokenOf("2", ["users:read:private"]);
    const { body } = await platform.graphql("{ user(id: 1) { email orders { id } } }", { token });
    expect(body.data.user).toEqual({ email: "ada.lovelace@example.org", orders: null });
  });
});

function takeStatements(): readonly string[] {
  return Object.values(platform.services).flatMap(({ database }) => [...database.takeStatements()]);
}
