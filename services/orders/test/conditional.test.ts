import { etagOf, pickHeaders } from "@tributary/kit/testing/response-headers";
import type { RestTestAnswer } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Orders, startOrders } from "./fixtures.ts";
import { writeGroups } from "@tributary/kit/rest/caching";
import { groupsOfProduct, groupsOfProductChanges } from "../src/groups.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());
beforeEach(() => void orders.database.takeStatements());

const publicHeaders = {
  "cache-control": "public, max-age=0, s-maxage=10",
  "cdn-cache-control": "public, max-age=10",
  "tributary-cache-control": "public, max-age=10, stale-while-revalidate=10, stale-if-error=300",
  vary: null,
};
const privateHeaders = {
  "cache-control": "private, no-cache",
  "cdn-cache-control": null,
  vary: "Authorization",
  "cache-groups": null,
};
const problem = { "cache-control": "no-store", "cdn-cache-control": null, vary: "Authorization" };

test("products can be stored by shared caches, with their groups, also for callers with a token", async () => {
  const paths = {
    "/products/NOTES": '"orders:product-NOTES", "orders:every-product"',
    "/products?limit=2": '"orders:products"',
  };
  for (const [path, group] of Object.entries(paths)) {
    const open = await get(`/v2${path}`);
    const known = await get(`/v2${path}`, orders.ada, { "if-none-match": etagOf(open) });
    expect([path, open.status, known.status, known.text]).toEqual([path, 200, 304, ""]);
    for (const { headers } of [open, known]) {
      expect(pickHeaders(headers, publicHeaders)).toEqual(publicHeaders);
      expect([path, headers.get("cache-groups"), headers.get("etag")]).toEqual([path, group, etagOf(open)]);
    }
  }
});

test("order responses are private, and every response has Vary: Authorization", async () => {
  const id = await orders.place(orders.ada);
  for (const path of [`/orders/${id}`, "/orders", "/users/1/orders?status=PLACED"]) {
    const whole = await get(`/v2${path}`, orders.ada);
    const known = await get(`/v2${path}`, orders.ada, { "if-none-match": etagOf(whole) });
    expect([path, whole.status, known.status]).toEqual([path, 200, 304]);
    for (const { headers } of [whole, known]) expect(pickHeaders(headers, privateHeaders)).toEqual(privateHeaders);
    const rejected = await get(`/v2${path}`, undefined, { "if-none-match": etagOf(whole) });
    expect([path, rejected.status, pickHeaders(rejected.headers, problem)]).toEqual([path, 401, problem]);
  }
});

test("an order's ETag gives other callers no 304, and an anonymous request needs no statement", async () => {
  const path = `/v2/orders/${await orders.place(orders.ada)}`;
  const etag = etagOf(await get(path, orders.ada));
  const writer = await orders.issuer.token("1", ["orders:write"]);
  for (const condition of [{ "if-none-match": etag }, { "if-none-match": "*" }, { "if-match": etag }]) {
    expect((await get(path, orders.grace, condition)).status).toBe(404);
    orders.database.takeStatements();
    expect((await get(path, undefined, condition)).status).toBe(401);
    expect((await get(path, writer, condition)).status).toBe(403);
    expect(orders.database.takeStatements()).toEqual([]);
  }
  expect((await get(path, orders.keeper, { "if-none-match": etag })).status).toBe(304);
  expect(
    (
      await get("/v2/orders", orders.grace, {
        "if-none-match": etagOf(await get("/v2/orders", orders.ada)),
      })
    ).status,
  ).toBe(200);
});

test("a 304 needs one statement for versions only, an order with its lines two", async () => {
  const id = await orders.place(orders.ada);
  for (const [path, whole, light] of [
    [`/orders/${id}`, ["find-orders", "find-lines"], "find-order-state"],
    ["/orders?limit=2", ["list-orders-first", "find-lines"], "list-order-versions-first"],
    ["/users/1/orders?status=PLACED", ["list-orders-first-status", "find-lines"], "list-order-versions-first-status"],
    ["/products/NOTES", ["find-products"], "find-product-versions"],
    ["/products", ["list-products-first"], "list-product-versions-first"],
  ] as const) {
    orders.database.takeStatements();
    const open = await get(`/v2${path}`, orders.ada);
    expect([path, orders.database.takeStatements()]).toEqual([path, whole]);
    const known = await get(`/v2${path}`, orders.ada, { "if-none-match": `W/${etagOf(open)}` });
    expect([path, known.status, orders.database.takeStatements()]).toEqual([path, 304, [light]]);
  }
});

test("a status change changes the ETags of the order and of lists with it", async () => {
  const id = await orders.place(orders.ada);
  const paths = [`/v2/orders/${id}`, "/v2/orders"];
  const before = await Promise.all(paths.map(async (path) => etagOf(await get(path, orders.ada))));
  await orders.graphql(
    `mutation { advanceOrder(input: { id: "${id}", to: PAID }) { order { id } } }`,
    {},
    orders.keeper,
  );
  for (const [index, path] of paths.entries()) {
    const after = await get(path, orders.ada, { "if-none-match": before[index] ?? "" });
    expect([path, after.status, after.text.includes("PAID")]).toEqual([path, 200, true]);
  }
});

test("an order invalidates the responses with its products; so do its replay and its cancellation", async () => {
  const path = "/v2/products/NOTES";
  const other = etagOf(await get("/v2/products/TOKYO"));
  const invalidated = '"orders:products", "orders:product-NOTES"';
  const before = etagOf(await get(path));
  const placed = await place("copies");
  expect([placed.status, invalidatedBy(placed), placed.headers.get("cache-control")]).toEqual([
    201,
    invalidated,
    "no-store",
  ]);
  const after = await get(path, undefined, { "if-none-match": before });
  expect(after.status).toBe(200);
  const replayed = await place("copies");
  expect([replayed.headers.get("idempotency-replayed"), invalidatedBy(replayed)]).toEqual(["true", invalidated]);
  expect((await get(path, undefined, { "if-none-match": etagOf(after) })).status).toBe(304);
  const cancellation = `/v2/orders/${placed.body.id}/cancellation`;
  const cancelled = await orders.rest("POST", cancellation, { token: orders.ada });
  expect([cancelled.status, invalidatedBy(cancelled)]).toEqual([200, invalidated]);
  expect((await get(path, undefined, { "if-none-match": etagOf(after) })).status).toBe(200);
  const rejected = await orders.rest("POST", cancellation, { token: orders.ada });
  expect([rejected.status, invalidatedBy(rejected)]).toEqual([409, null]);
  expect((await get("/v2/products/TOKYO", undefined, { "if-none-match": other })).status).toBe(304);
});

test("the two versions have different ETags", async () => {
  const id = await orders.place(orders.ada);
  for (const path of [`orders/${id}`, "orders", "products/NOTES", "products"]) {
    const first = etagOf(await get(`/v1/${path}`, orders.ada));
    expect([path, (await get(`/v2/${path}`, orders.ada, { "if-none-match": first })).status]).toEqual([path, 200]);
  }
});

test("a change without effect leaves ETags valid", async () => {
  const id = await orders.place(orders.ada);
  const paths = [`/v2/orders/${id}`, "/v2/products/NOTES"];
  const before = await Promise.all(paths.map(async (path) => etagOf(await get(path, orders.ada))));
  const { rows } = orders.database.database;
  await rows("same-orders", "update orders set status = status");
  await rows("same-products", "update products set title = title, post_id = post_id");
  for (const [index, path] of paths.entries()) {
    expect((await get(path, orders.ada, { "if-none-match": before[index] ?? "" })).status).toBe(304);
  }
});

test("a cancellation with an old ETag is rejected", async () => {
  const id = await orders.place(orders.ada);
  const cancel = (headers: Record<string, string>, token = orders.ada) =>
    orders.rest("POST", `/v2/orders/${id}/cancellation`, { token, headers });
  const read = etagOf(await get(`/v2/orders/${id}`, orders.ada));
  await orders.graphql(
    `mutation ($id: ID!) { advanceOrder(input: { id: $id, to: PAID }) { order { id } } }`,
    { id },
    orders.keeper,
  );
  const now = etagOf(await get(`/v2/orders/${id}`, orders.ada));
  const before = await orders.stockOf("NOTES");
  const conditions = [{ "if-match": read }, { "if-match": `W/${read}` }, { "if-none-match": "*" }];
  for (const condition of [...conditions, { "if-none-match": now }, { "if-match": "*", "if-none-match": now }]) {
    const { status, headers } = await cancel(condition);
    expect([condition, status, headers.get("cache-group-invalidation")]).toEqual([condition, 412, null]);
  }
  expect([await orders.stockOf("NOTES"), (await cancel({ "if-match": read }, orders.grace)).status]).toEqual([
    before,
    404,
  ]);
  const cancelled = await cancel({ "if-match": `W/${now}`, "if-none-match": read });
  expect([cancelled.status, cancelled.body.status]).toEqual([200, "CANCELLED"]);
  expect((await cancel({ "if-match": now })).status).toBe(412);
  expect((await cancel({})).status).toBe(409);
});

test("every product of an order is in an invalidated group, and the names fit into a header", () => {
  const skus = Array.from({ length: 50 }, (_, index) => `${index}`.padStart(index + 14, "x"));
  for (let count = 1; count <= skus.length; count++) {
    const ordered = skus.slice(0, count);
    const changed = groupsOfProductChanges(ordered);
    expect(() => writeGroups(changed)).not.toThrow();
    for (const sku of ordered) expect(groupsOfProduct(sku).filter((group) => changed.includes(group))).toHaveLength(1);
  }
});

test("an order with few products does not invalidate other products", () => {
  const changed = groupsOfProductChanges(["x".repeat(64), "NOTES"]);
  expect(groupsOfProduct("y".repeat(64)).filter((group) => changed.includes(group))).toEqual([]);
});

function place(key: string): Promise<RestTestAnswer> {
  const body = { lines: [{ sku: "NOTES", quantity: 1 }] };
  return orders.rest("POST", "/v2/orders", { token: orders.ada, body, headers: { "idempotency-key": key } });
}

function invalidatedBy({ headers }: RestTestAnswer): string | null {
  return headers.get("cache-group-invalidation");
}

function get(path: string, token?: string, headers: Record<string, string> = {}): Promise<RestTestAnswer> {
  return orders.rest("GET", path, { ...(token === undefined ? {} : { token }), headers });
}
