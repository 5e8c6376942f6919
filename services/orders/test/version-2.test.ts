import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Orders, startOrders, usual } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

const oneBook = [{ sku: "NOTES", quantity: 1 }];

const post = (body: unknown, headers: Record<string, string> = {}, token = orders.ada) =>
  orders.rest("POST", "/v2/orders", { token, body, headers: { "idempotency-key": randomUUID(), ...headers } });

test("placing an order responds with 201, Location, ETag and the order, with amounts in minor units", async () => {
  const lines = [
    { sku: "NOTES", quantity: 2 },
    { sku: "COMPILER", quantity: 1 },
  ];
  const { status, headers, body } = await post({ lines });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/v2/orders/${body.id}`);
  expect(headers.get("etag")).toMatch(/^"\d+-v2\.[0-9a-f]{6}-whole"$/);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    customerId: "1",
    status: "PLACED",
    placedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    total: { amountMinor: 5048, currency: "EUR" },
    lines: [
      { sku: "COMPILER", quantity: 1, unitPrice: { amountMinor: 2450, currency: "EUR" } },
      { sku: "NOTES", quantity: 2, unitPrice: { amountMinor: 1299, currency: "EUR" } },
    ],
  });
  const read = await orders.rest("GET", headers.get("location") ?? "", { token: orders.ada });
  expect([read.status, read.body, read.headers.get("etag")]).toEqual([200, body, headers.get("etag")]);
});

test("an amount in a currency without minor units is unchanged", async () => {
  const { body } = await post({ lines: [{ sku: "TOKYO", quantity: 3 }] });
  expect(body.total).toEqual({ amountMinor: 3900, currency: "JPY" });
});

test("without an Idempotency-Key no order is placed; a missing permission is reported first", async () => {
  const before = await orders.count();
  const send = async (token: string | undefined, body: unknown) => {
    const response = await orders.rest("POST", "/v2/orders", { ...(token && { token }), body });
    return [response.status, response.body.type];
  };
  const reader = await orders.issuer.token("1", ["orders:read"]);
  expect(await send(orders.ada, { lines: oneBook })).toEqual([400, "/problems/malformed-request"]);
  expect(await send(orders.ada, { lines: [] })).toEqual([400, "/problems/malformed-request"]);
  expect(await send(reader, { lines: oneBook })).toEqual([403, "/problems/forbidden"]);
  expect(await send(undefined, { lines: oneBook })).toEqual([401, "/problems/unauthenticated"]);
  for (const key of ["two words", "", "k".repeat(256)]) {
    expect([key, (await post({ lines: oneBook }, { "idempotency-key": key })).status]).toEqual([key, 400]);
  }
  expect(await orders.count()).toEqual(before);
});

test("every problem of an order is reported at once, with the field names of this version", async () => {
  const { status, body } = await post({
    id: "1",
    total: "0.01",
    lines: [
      { sku: "NOTES", quantity: 0 },
      { sku: "NOTES", quantity: 1, unitPrice: "0.01" },
      { sku: 7, qty: 1 },
    ],
  });
  expect(status).toBe(422);
  expect(pointersOf(body)).toEqual([
    "#/id",
    "#/lines/0/quantity",
    "#/lines/1/sku",
    "#/lines/1/unitPrice",
    "#/lines/2/qty",
    "#/lines/2/quantity",
    "#/lines/2/sku",
    "#/total",
  ]);
});

test("quantities are whole numbers from 1 to 99, and a product has one line", async () => {
  for (const quantity of [0, -1, 100, 1.5, "1", null, 1e21]) {
    const { status, body } = await post({ lines: [{ sku: "NOTES", quantity }] });
    expect([quantity, status, pointersOf(body)]).toEqual([quantity, 422, ["#/lines/0/quantity"]]);
  }
  const twice = await post({ lines: [...oneBook, ...oneBook] });
  expect([twice.status, pointersOf(twice.body)]).toEqual([422, ["#/lines/1/sku"]]);
});

test("out of stock is 409 with a pointer to `quantity` of the line", async () => {
  const { status, body } = await post({ lines: [...oneBook, { sku: "LAST-SEVEN", quantity: 8 }] });
  expect([status, body.type]).toEqual([409, "/problems/out-of-stock"]);
  expect(body.errors).toEqual([
    { pointer: "#/lines/1/quantity", code: "out_of_stock", detail: "Only 7 are in stock." },
  ]);
});

test("a cancellation accepts no body and no key, and a second one is rejected", async () => {
  const path = `/v2/orders/${await orders.place(orders.ada)}/cancellation`;
  const cancel = (body?: unknown) => orders.rest("POST", path, { token: orders.ada, body });
  expect((await cancel({ refund: 1 })).status).toBe(422);
  const { status, headers, body } = await cancel();
  const etag = expect.stringMatching(/^"\d+-v2\.[0-9a-f]{6}-whole"$/);
  expect([status, headers.get("etag"), body.status]).toEqual([200, etag, "CANCELLED"]);
  expect(body.lines).toEqual([{ sku: "NOTES", quantity: 1, unitPrice: { amountMinor: 1299, currency: "EUR" } }]);
  const again = await cancel();
  expect([again.status, again.body.type]).toEqual([409, "/problems/invalid-state"]);
});

test("a product's price is in minor units", async () => {
  const { status, headers, body } = await orders.rest("GET", "/v2/products/LAST-SEVEN");
  expect([status, headers.get("etag")]).toEqual([200, expect.stringMatching(/^"\d+-v2\.[0-9a-f]{6}-public"$/)]);
  expect(body).toEqual({
    sku: "LAST-SEVEN",
    title: "Seven numbered prints",
    price: { amountMinor: 500, currency: "EUR" },
    stock: 7,
    postId: null,
  });
});

test("a list is an object with cursors for the next and the previous page", async () => {
  const user = await orders.issuer.token("50", usual);
  const ids = [await orders.place(user), await orders.place(user), await orders.place(user)];
  for (const path of ["/v2/orders", "/v2/users/50/orders"]) {
    const first = await orders.rest("GET", `${path}?limit=2&status=PLACED`, { token: user });
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    expect(first.body.page).toEqual({ next: expect.any(String), prev: null });
    const { next } = first.body.page;
    const second = await orders.rest("GET", `${path}?limit=2&status=PLACED&cursor=${next}`, { token: user });
    const read = await orders.rest("GET", `/v2/orders/${ids[0]}`, { token: user });
    expect(second.body.data).toEqual([read.body]);
    const { prev } = second.body.page;
    const back = await orders.rest("GET", `${path}?limit=2&status=PLACED&cursor=${prev}`, { token: user });
    expect(back.body.data).toEqual(first.body.data);
  }
  const products = await orders.rest("GET", "/v2/products?limit=2");
  expect(products.body.data.map(({ sku }: { sku: string }) => sku)).toEqual(["COMPILER", "LAST-SEVEN"]);
  const unknown = await orders.rest("GET", "/v2/users/abc/orders", { token: orders.keeper });
  expect(unknown.body).toEqual({ data: [], page: { next: null, prev: null } });
});

test("a malformed request or an unknown id is rejected with the matching status", async () => {
  const statusOf = async (method: string, path: string, token = orders.ada) =>
    (await orders.rest(method, path, { token })).status;
  expect((await post("{ broken")).status).toBe(400);
  expect((await post("lines=1", { "content-type": "text/plain" })).status).toBe(415);
  expect((await post({ lines: [], note: "x".repeat(70_000) })).status).toBe(413);
  expect((await post(undefined)).status).toBe(422);
  expect(await statusOf("GET", "/v2/orders?order=total")).toBe(400);
  expect(await statusOf("GET", "/v2/products?cursor=forged")).toBe(400);
  expect(await statusOf("GET", "/v2/orders", "no.token.atall")).toBe(401);
  expect(await statusOf("GET", "/v2/users/2/orders")).toBe(403);
  expect(await statusOf("GET", "/v2/orders/0190b5f0-0000-7000-8000-000000000000")).toBe(404);
  expect(await statusOf("GET", `/v2/orders/${await orders.place(orders.ada)}`, orders.grace)).toBe(404);
  expect(await statusOf("GET", "/v2/products/NONE")).toBe(404);
  expect(await statusOf("POST", "/v2/orders/x/cancellation")).toBe(404);
  expect(await statusOf("DELETE", "/v2/orders")).toBe(405);
  expect(await statusOf("GET", "/v2/orders?status=LOST")).toBe(400);
});

function pointersOf(problem: { readonly errors: readonly { readonly pointer: string }[] }): readonly string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}
