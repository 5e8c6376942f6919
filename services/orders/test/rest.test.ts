import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oneBook, type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

const post = (body: unknown, headers: Record<string, string> = {}, token = orders.ada) =>
  orders.rest("POST", "/v1/orders", { token, body, headers });

test("placing an order responds with 201, Location, ETag and the order", async () => {
  const lines = [
    { sku: "NOTES", qty: 2 },
    { sku: "COMPILER", qty: 1 },
  ];
  const { status, headers, body } = await post({ lines });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/v1/orders/${body.id}`);
  expect(headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-whole"$/);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.has("idempotency-replayed")).toBe(false);
  expect(Object.keys(body)).toEqual(["id", "customerId", "status", "placedAt", "total", "currency", "lines"]);
  expect(body).toMatchObject({ customerId: "1", status: "PLACED", total: "50.48", currency: "EUR" });
  expect(body.lines).toEqual([
    { sku: "COMPILER", qty: 1, unitPrice: "24.50" },
    { sku: "NOTES", qty: 2, unitPrice: "12.99" },
  ]);
  const read = await orders.rest("GET", headers.get("location") ?? "", { token: orders.ada });
  expect([read.status, read.body]).toEqual([200, body]);
});

test("an amount in a currency without minor units is a whole number", async () => {
  expect((await post({ lines: [{ sku: "TOKYO", qty: 3 }] })).body).toMatchObject({ total: "3900", currency: "JPY" });
});

test("order responses are private, product responses are public", async () => {
  const id = await orders.place(orders.ada);
  for (const path of [`/v1/orders/${id}`, "/v1/orders", "/v1/users/1/orders", "/v1/orders/none"]) {
    const { headers } = await orders.rest("GET", path, { token: orders.ada });
    expect([path, headers.get("vary")]).toEqual([path, "Authorization"]);
    expect(headers.get("cache-control")).toMatch(/^(private|no-store)/);
  }
  expect((await orders.rest("GET", "/v1/products")).headers.has("vary")).toBe(false);
});

test("a product in version 1 has its price as a decimal", async () => {
  const { status, headers, body } = await orders.rest("GET", "/v1/products/LAST-SEVEN");
  expect([status, headers.get("etag")]).toEqual([200, expect.stringMatching(/^"\d+-v1\.[0-9a-f]{6}-public"$/)]);
  expect(body).toEqual({
    sku: "LAST-SEVEN",
    title: "Seven numbered prints",
    price: "5.00",
    currency: "EUR",
    stock: 7,
    postId: null,
  });
});

test("an unknown path or id is a 404 problem", async () => {
  const paths = [
    "/v1/products/NONE",
    "/v1/products/%00",
    "/v1/products/..%2fNOTES",
    `/v1/products/${"x".repeat(5_000)}`,
  ];
  const own = ["/v1/orders/x", "/v1/orders/1", "/v1/orders/0190b5f0-0000-7000-8000-000000000000", "/v1/Orders"];
  for (const path of [...paths, ...own]) {
    const { status, headers } = await orders.rest("GET", path, { token: orders.ada });
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/problem+json"]);
  }
  expect((await orders.rest("POST", "/v1/orders/x/cancellation", { token: orders.ada })).status).toBe(404);
});

test("an unsupported method is 405 with the supported ones in Allow", async () => {
  const { status, headers } = await orders.rest("DELETE", "/v1/orders");
  expect([status, headers.get("allow")]).toEqual([405, "POST, GET, HEAD, OPTIONS"]);
});

test("pages of orders link to the next and the previous page, and contain the lines", async () => {
  const user = await orders.issuer.token("50", ["orders:read", "orders:write"]);
  const ids = [await orders.place(user), await orders.place(user), await orders.place(user)];
  for (const path of ["/v1/orders", "/v1/users/50/orders"]) {
    const first = await orders.rest("GET", `${path}?limit=2&status=PLACED`, { token: user });
    expect(first.body.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    expect(first.body[0].lines).toEqual([{ sku: "NOTES", qty: 1, unitPrice: "12.99" }]);
    const second = await orders.rest("GET", linkOf(first.headers, "next"), { token: user });
    expect(second.body.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
    const back = await orders.rest("GET", linkOf(second.headers, "prev"), { token: user });
    expect(back.text).toBe(first.text);
  }
});

test("a page of any number of orders needs two statements", async () => {
  orders.database.takeStatements();
  await orders.rest("GET", "/v1/orders?limit=100", { token: orders.ada });
  expect(orders.database.takeStatements()).toEqual(["list-orders-first", "find-lines"]);
});

test("lists of products link to the next and the previous page", async () => {
  const first = await orders.rest("GET", "/v1/products?limit=3");
  expect(first.body.map(({ sku }: { sku: string }) => sku)).toEqual(["COMPILER", "LAST-SEVEN", "NOTES"]);
  const second = await orders.rest("GET", linkOf(first.headers, "next"));
  expect(second.body.map(({ sku }: { sku: string }) => sku)).toEqual(["TOKYO", "VAULT"]);
  expect((await orders.rest("GET", linkOf(second.headers, "prev"))).text).toBe(first.text);
});

test("the list of an unknown user is empty", async () => {
  for (const id of ["999999", "0", "abc"]) {
    const { status, body } = await orders.rest("GET", `/v1/users/${id}/orders`, { token: orders.keeper });
    expect([status, body]).toEqual([200, []]);
  }
});

test("unknown and out-of-range parameters are rejected, and a cursor is valid only with its customer and filters", async () => {
  await orders.place(orders.ada);
  await orders.place(orders.ada);
  const { headers } = await orders.rest("GET", "/v1/orders?limit=1", { token: orders.ada });
  const cursor = new URL(linkOf(headers, "next"), "http://x").searchParams.get("cursor");
  const refused = {
    "/v1/orders?order=total": 400,
    "/v1/orders?limit=0": 400,
    "/v1/orders?status=LOST": 400,
    [`/v1/orders?status=PAID&cursor=${cursor}`]: 400,
    "/v1/products?status=PAID": 400,
    "/v1/products?cursor=forged": 400,
    [`/v1/products?cursor=${cursor}`]: 400,
  };
  for (const [path, status] of Object.entries(refused)) {
    expect([path, (await orders.rest("GET", path, { token: orders.ada })).status]).toEqual([path, status]);
  }
  expect((await orders.rest("GET", `/v1/orders?cursor=${cursor}`, { token: orders.grace })).status).toBe(400);
  expect((await orders.rest("GET", `/v1/users/1/orders?cursor=${cursor}`, { token: orders.keeper })).status).toBe(200);
});

test("a malformed request is rejected with the matching status", async () => {
  expect((await post("{ broken")).status).toBe(400);
  expect((await post("lines=1", { "content-type": "text/plain" })).status).toBe(415);
  expect((await post({ lines: [], note: "x".repeat(70_000) })).status).toBe(413);
  expect((await post(undefined)).status).toBe(422);
  expect((await orders.rest("POST", "/v1/orders", { body: "{ broken" })).status).toBe(400);
});

test("every problem of an order is reported at once, with the field names of version 1", async () => {
  const { status, body } = await post({
    id: "1",
    total: "0.01",
    lines: [
      { sku: "NOTES", qty: 0 },
      { sku: "NOTES", qty: 1, unitPrice: "0.01" },
      { sku: 7, quantity: 1 },
    ],
  });
  expect(status).toBe(422);
  expect(pointersOf(body).sort()).toEqual([
    "#/id",
    "#/lines/0/qty",
    "#/lines/1/sku",
    "#/lines/1/unitPrice",
    "#/lines/2/qty",
    "#/lines/2/quantity",
    "#/lines/2/sku",
    "#/total",
  ]);
});

test("quantities are whole numbers from 1 to 99", async () => {
  for (const qty of [0, -1, 100, 1.5, "1", null, 1e21]) {
    const { status, body } = await post({ lines: [{ sku: "NOTES", qty }] });
    expect([qty, status, pointersOf(body)]).toEqual([qty, 422, ["#/lines/0/qty"]]);
  }
});

test("a repeated product is a problem of its second line", async () => {
  const { status, body } = await post({ lines: [...oneBook, { sku: "TOKYO", qty: 1 }, ...oneBook] });
  expect(status).toBe(422);
  expect(body.errors).toEqual([
    { pointer: "#/lines/2/sku", code: "duplicate", detail: "This product has a line already." },
  ]);
});

test("unknown products, two currencies and a too large total are rejected", async () => {
  const problems = async (lines: readonly object[]) => {
    const { status, body } = await post({ lines });
    return [status, body.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)];
  };
  expect(await problems([...oneBook, { sku: "NONE", qty: 1 }, { sku: "\u0000", qty: 1 }])).toEqual([
    422,
    ["#/lines/1/sku unknown", "#/lines/2/sku unknown"],
  ]);
  expect(await problems([...oneBook, { sku: "TOKYO", qty: 1 }])).toEqual([422, ["#/lines/1/sku currency"]]);
  expect(await problems([{ sku: "VAULT", qty: 2 }])).toEqual([422, ["#/lines total"]]);
  expect(await orders.stockOf("VAULT")).toBe(99);
});

test("out of stock is 409 with a pointer to `qty` of the line", async () => {
  const { status, body } = await post({ lines: [...oneBook, { sku: "LAST-SEVEN", qty: 8 }] });
  expect(status).toBe(409);
  expect(body).toMatchObject({ type: "/problems/out-of-stock", title: "Out of stock" });
  expect(body.errors).toEqual([{ pointer: "#/lines/1/qty", code: "out_of_stock", detail: "Only 7 are in stock." }]);
});

test("an Idempotency-Key is 1 to 255 visible characters, sent once", async () => {
  const statusWith = (...keys: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = ["host", "orders", "content-type", "application/json", "authorization", `Bearer ${orders.ada}`];
      const { port } = new URL(orders.url);
      const outgoing = httpRequest(
        {
          port,
          method: "POST",
          path: "/rest/v1/orders",
          headers: [...headers, ...keys.flatMap((key) => ["idempotency-key", key])],
        },
        (response) => resolve(response.resume().statusCode),
      );
      outgoing.on("error", reject).end(JSON.stringify({ lines: oneBook }));
    });
  expect(await statusWith("")).toBe(400);
  expect(await statusWith("two words")).toBe(400);
  expect(await statusWith("\u00e9")).toBe(400);
  expect(await statusWith("k".repeat(256))).toBe(400);
  expect(await statusWith("twice", "twice")).toBe(400);
  expect(await statusWith("k".repeat(255))).toBe(201);
});

test("a cancellation accepts no body", async () => {
  const path = `/v1/orders/${await orders.place(orders.ada)}/cancellation`;
  expect((await orders.rest("POST", path, { token: orders.ada, body: { refund: 1 } })).status).toBe(422);
  // First the order's existence, then the conditions, then the content (RFC 9110, 13.2.1).
  const refund = { token: orders.ada, body: { refund: 1 } };
  expect((await orders.rest("POST", path, { ...refund, headers: { "if-match": '"7-v1-whole"' } })).status).toBe(412);
  expect((await orders.rest("POST", "/v1/orders/9999/cancellation", refund)).status).toBe(404);
  const { status, headers, body } = await orders.rest("POST", path, { token: orders.ada });
  const etag = expect.stringMatching(/^"\d+-v1\.[0-9a-f]{6}-whole"$/);
  expect([status, headers.get("etag"), body.status]).toEqual([200, etag, "CANCELLED"]);
  expect(body.lines).toHaveLength(1);
});

function pointersOf(body: { readonly errors: readonly { readonly pointer: string }[] }): string[] {
  return body.errors.map(({ pointer }) => pointer);
}

function linkOf(headers: Headers, rel: string): string {
  const link = (headers.get("link") ?? "").split(", ").find((part) => part.endsWith(`rel="${rel}"`));
  return link?.slice(1, link.indexOf(">")) ?? "no such link";
}
