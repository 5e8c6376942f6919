import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { expectedListOrder, readListOrder } from "@tributary/kit/testing/list-order";
import { linkOf } from "@tributary/kit/testing/response-headers";
import type { RestTestAnswer } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Orders, startOrders, usual } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

/** The name of a line's quantity in each version. */
const versions = [
  ["v1", "qty"],
  ["v2", "quantity"],
] as const;

const oneBook = [{ sku: "NOTES", quantity: 1 }];

/** Places an order with the field names of the version, where `quantity` stands for either name, and with a new key. */
const post = (version: string, lines: readonly object[]) =>
  send(version, { lines: version === "v1" ? lines.map(toLineV1) : lines });

const send = (version: string, body: unknown, headers: Record<string, string> = {}) =>
  orders.rest("POST", `/${version}/orders`, {
    token: orders.ada,
    body,
    headers: { "idempotency-key": randomUUID(), ...headers },
  });

test("placing an order responds with 201, Location, ETag and the order, priced at the current prices", async () => {
  const euros = (amountMinor: number) => ({ amountMinor, currency: "EUR" });
  const common = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    customerId: "1",
    status: "PLACED",
    placedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  };
  const fields = {
    v1: {
      total: "50.48",
      currency: "EUR",
      lines: [
        { sku: "COMPILER", qty: 1, unitPrice: "24.50" },
        { sku: "NOTES", qty: 2, unitPrice: "12.99" },
      ],
    },
    v2: {
      total: euros(5048),
      lines: [
        { sku: "COMPILER", quantity: 1, unitPrice: euros(2450) },
        { sku: "NOTES", quantity: 2, unitPrice: euros(1299) },
      ],
    },
  };
  for (const [version] of versions) {
    const { status, headers, body } = await post(version, [
      { sku: "NOTES", quantity: 2 },
      { sku: "COMPILER", quantity: 1 },
    ]);
    expect([status, headers.get("location")]).toEqual([201, `/${version}/orders/${body.id}`]);
    expect(headers.get("etag")).toMatch(new RegExp(String.raw`^"\d+-${version}\.[0-9a-f]{6}-whole"$`));
    expect(headers.has("idempotency-replayed")).toBe(false);
    expect(body).toEqual({ ...common, ...fields[version] });
    const read = await orders.rest("GET", headers.get("location") ?? "", { token: orders.ada });
    expect([read.status, read.body, read.headers.get("etag")]).toEqual([200, body, headers.get("etag")]);
  }
});

test("an amount in a currency without minor units is a whole number", async () => {
  const prints = [{ sku: "TOKYO", quantity: 3 }];
  expect((await post("v1", prints)).body).toMatchObject({ total: "3900", currency: "JPY" });
  expect((await post("v2", prints)).body.total).toEqual({ amountMinor: 3900, currency: "JPY" });
});

test("a product has its price as a decimal in version 1, in minor units in version 2", async () => {
  const common = { sku: "LAST-SEVEN", title: "Seven numbered prints", stock: 7, postId: null };
  const first = await orders.rest("GET", "/v1/products/LAST-SEVEN");
  expect(first.headers.get("etag")).toMatch(/^"\d+-v1\.[0-9a-f]{6}-public"$/);
  expect(first.body).toEqual({ ...common, price: "5.00", currency: "EUR" });
  const second = await orders.rest("GET", "/v2/products/LAST-SEVEN");
  expect(second.body).toEqual({ ...common, price: { amountMinor: 500, currency: "EUR" } });
});

test("an unknown or malformed id is 404", async () => {
  const paths = [
    "/v1/products/NONE",
    "/v1/products/%00",
    "/v1/products/..%2fNOTES",
    `/v1/products/${"x".repeat(5_000)}`,
    "/v1/orders/x",
    "/v1/orders/1",
    "/v2/orders/0190b5f0-0000-7000-8000-000000000000",
  ];
  for (const path of paths) {
    const { status, body } = await orders.rest("GET", path, { token: orders.ada });
    expect([path, status, body.type]).toEqual([path, 404, "/problems/not-found"]);
  }
  expect((await orders.rest("POST", "/v1/orders/x/cancellation", { token: orders.ada })).status).toBe(404);
});

test("lists of orders have pages in both directions, with the lines of each order, for two statements a page", async () => {
  const user = await orders.issuer.token("50", usual);
  const ids = [await orders.place(user), await orders.place(user), await orders.place(user)];
  const get = (path: string) => orders.rest("GET", path, { token: user });
  for (const list of ["orders", "users/50/orders"]) {
    const first = await get(`/v1/${list}?limit=2&status=PLACED`);
    expect(idsOf(first.body)).toEqual([ids[2], ids[1]]);
    expect(first.body[0].lines).toEqual([{ sku: "NOTES", qty: 1, unitPrice: "12.99" }]);
    const second = await get(linkOf(first, "next"));
    expect(idsOf(second.body)).toEqual([ids[0]]);
    expect((await get(linkOf(second, "prev"))).text).toBe(first.text);
    orders.database.takeStatements();
    const { data, page } = (await get(`/v2/${list}?limit=2&status=PLACED`)).body;
    expect(orders.database.takeStatements()).toEqual(["list-orders-first-status", "find-lines"]);
    expect([idsOf(data), page]).toEqual([idsOf(first.body), { next: expect.any(String), prev: null }]);
    const rest = (await get(`/v2/${list}?limit=2&status=PLACED&cursor=${page.next}`)).body;
    expect(rest.data).toEqual([(await get(`/v2/orders/${ids[0]}`)).body]);
  }
});

test("lists of products are sorted by sku, with pages in both directions", async () => {
  const skusOf = (list: readonly { readonly sku: string }[]) => list.map(({ sku }) => sku);
  const first = await orders.rest("GET", "/v1/products?limit=3");
  expect(skusOf(first.body)).toEqual(["COMPILER", "LAST-SEVEN", "NOTES"]);
  const second = await orders.rest("GET", linkOf(first, "next"));
  expect(skusOf(second.body)).toEqual(["TOKYO", "VAULT"]);
  expect((await orders.rest("GET", linkOf(second, "prev"))).text).toBe(first.text);
  expect(skusOf((await orders.rest("GET", "/v2/products?limit=2")).body.data)).toEqual(["COMPILER", "LAST-SEVEN"]);
});

test("the list of an unknown user is empty", async () => {
  for (const id of ["999999", "0", "abc"]) {
    const { status, body } = await orders.rest("GET", `/v1/users/${id}/orders`, { token: orders.keeper });
    expect([id, status, body]).toEqual([id, 200, []]);
  }
});

test("a cursor is valid only with its customer and filters", async () => {
  await orders.place(orders.ada);
  await orders.place(orders.ada);
  const { next } = (await orders.rest("GET", "/v2/orders?limit=1", { token: orders.ada })).body.page;
  const statusOf = async (path: string, token: string) =>
    (await orders.rest("GET", `${path}cursor=${next}`, { token })).status;
  expect(await statusOf("/v2/orders?status=PAID&", orders.ada)).toBe(400);
  expect(await statusOf("/v2/products?", orders.ada)).toBe(400);
  expect(await statusOf("/v2/orders?", orders.grace)).toBe(400);
  expect(await statusOf("/v2/users/1/orders?", orders.keeper)).toBe(200);
});

test("every list of orders can be sorted from either end, and has no other order", async () => {
  const user = await orders.issuer.token("51", usual);
  for (let count = 0; count < 5; count++) await orders.place(user);
  for (const path of ["/v1/orders?", "/v2/users/51/orders?", "/v2/orders?status=PLACED&"]) {
    expect([path, await readListOrder(orders, path, user)]).toEqual([path, expectedListOrder]);
  }
});

test("every problem of an order is reported at once, with the field names of the version", async () => {
  const second = {
    id: "1",
    total: "0.01",
    lines: [
      { sku: "NOTES", quantity: 0 },
      { sku: "NOTES", quantity: 1, unitPrice: "0.01" },
      { sku: 7, qty: 1 },
    ],
  };
  const first = { ...second, lines: [...second.lines.slice(0, 2).map(toLineV1), { sku: 7, quantity: 1 }] };
  for (const [version, name] of versions) {
    expect(problemsOf(await send(version, version === "v1" ? first : second))).toEqual([
      422,
      "#/id unknown_field",
      `#/lines/0/${name} range`,
      "#/lines/1/sku duplicate",
      "#/lines/1/unitPrice unknown_field",
      ...(version === "v1"
        ? ["#/lines/2/qty required", "#/lines/2/quantity unknown_field"]
        : ["#/lines/2/qty unknown_field", "#/lines/2/quantity required"]),
      "#/lines/2/sku invalid_type",
      "#/total unknown_field",
    ]);
    expect((await send(version, undefined)).status).toBe(422);
  }
});

test("quantities are whole numbers from 1 to 99, and a product has one line", async () => {
  for (const [version, name] of versions) {
    for (const quantity of [0, -1, 100, 1.5, "1", null, 1e21]) {
      const [status, problem] = problemsOf(await post(version, [{ sku: "NOTES", quantity }]));
      expect([quantity, status, problem]).toEqual([quantity, 422, expect.stringContaining(`#/lines/0/${name} `)]);
    }
    expect((await post(version, [{ sku: "NOTES", quantity: 99 }])).status).toBe(201);
    const twice = await post(version, [...oneBook, { sku: "TOKYO", quantity: 1 }, ...oneBook]);
    expect(problemsOf(twice)).toEqual([422, "#/lines/2/sku duplicate"]);
  }
});

test("unknown products, two currencies and a too large total are rejected", async () => {
  const problems = async (...lines: readonly object[]) => problemsOf(await post("v1", lines));
  const [none, invalid] = [
    { sku: "NONE", quantity: 1 },
    { sku: "\u0000", quantity: 1 },
  ];
  expect(await problems(none, ...oneBook, invalid)).toEqual([422, "#/lines/0/sku unknown", "#/lines/2/sku unknown"]);
  expect(await problems(...oneBook, { sku: "TOKYO", quantity: 1 })).toEqual([422, "#/lines/1/sku currency"]);
  expect(await problems({ sku: "VAULT", quantity: 2 })).toEqual([422, "#/lines total"]);
  expect(await orders.stockOf("VAULT")).toBe(99);
});

test("out of stock is 409 with a pointer to the quantity of the line", async () => {
  for (const [version, name] of versions) {
    const { status, body } = await post(version, [...oneBook, { sku: "LAST-SEVEN", quantity: 8 }]);
    expect(status).toBe(409);
    expect(body).toMatchObject({ type: "/problems/out-of-stock", title: "Out of stock" });
    expect(body.errors).toEqual([
      { pointer: `#/lines/1/${name}`, code: "out_of_stock", detail: "Only 7 are in stock." },
    ]);
  }
});

test("in version 2 no order is placed without an Idempotency-Key; a missing permission is reported first", async () => {
  const before = await orders.count();
  const place = async (token: string | undefined, lines: readonly object[]) => {
    const { status, body } = await orders.rest("POST", "/v2/orders", { ...(token && { token }), body: { lines } });
    return [status, body.type];
  };
  const reader = await orders.issuer.token("1", ["orders:read"]);
  expect(await place(orders.ada, oneBook)).toEqual([400, "/problems/malformed-request"]);
  expect(await place(orders.ada, [])).toEqual([400, "/problems/malformed-request"]);
  expect(await place(reader, oneBook)).toEqual([403, "/problems/forbidden"]);
  expect(await place(undefined, oneBook)).toEqual([401, "/problems/unauthenticated"]);
  expect((await send("v2", { lines: oneBook }, { "idempotency-key": "two words" })).status).toBe(400);
  expect(await orders.count()).toEqual(before);
});

test("an Idempotency-Key is 1 to 255 visible characters, sent once", async () => {
  const statusWith = (...keys: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const common = ["host", "orders", "content-type", "application/json", "authorization", `Bearer ${orders.ada}`];
      const headers = [...common, ...keys.flatMap((key) => ["idempotency-key", key])];
      const { port } = new URL(orders.url);
      const outgoing = httpRequest({ port, method: "POST", path: "/rest/v1/orders", headers }, (response) =>
        resolve(response.resume().statusCode),
      );
      outgoing.on("error", reject).end(JSON.stringify({ lines: oneBook.map(toLineV1) }));
    });
  for (const key of ["", "two words", "\u00e9", "k".repeat(256)])
    expect([key, await statusWith(key)]).toEqual([key, 400]);
  expect(await statusWith("twice", "twice")).toBe(400);
  expect(await statusWith("k".repeat(255))).toBe(201);
});

test("a cancellation needs no body and no key, and without a key a second one is rejected", async () => {
  for (const [version, name] of versions) {
    const path = `/${version}/orders/${await orders.place(orders.ada)}/cancellation`;
    const cancel = (body?: object) => orders.rest("POST", path, { token: orders.ada, body });
    expect((await cancel({ refund: 1 })).status).toBe(422);
    const { status, headers, body } = await cancel();
    expect([status, body.status]).toEqual([200, "CANCELLED"]);
    expect(headers.get("etag")).toMatch(new RegExp(String.raw`^"\d+-${version}\.[0-9a-f]{6}-whole"$`));
    expect(body.lines).toMatchObject([{ sku: "NOTES", [name]: 1 }]);
    const again = await cancel();
    expect([again.status, again.body.type]).toEqual([409, "/problems/invalid-state"]);
  }
});

test("a cancellation reports a missing order first, then failed conditions, then invalid content (RFC 9110, 13.2.1)", async () => {
  const refund = { token: orders.ada, body: { refund: 1 }, headers: { "if-match": '"7-v1-whole"' } };
  expect((await orders.rest("POST", "/v1/orders/9999/cancellation", refund)).status).toBe(404);
  const path = `/v1/orders/${await orders.place(orders.ada)}/cancellation`;
  expect((await orders.rest("POST", path, refund)).status).toBe(412);
});

function toLineV1({ quantity: qty, ...line }: { readonly quantity?: unknown }): object {
  return { ...line, qty };
}

function idsOf(list: readonly { readonly id: string }[]): readonly string[] {
  return list.map(({ id }) => id);
}

/** The status, and the pointers and codes of the problems, sorted. */
function problemsOf({ status, body }: RestTestAnswer): readonly unknown[] {
  const problems = body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
  return [status, ...problems.sort()];
}
