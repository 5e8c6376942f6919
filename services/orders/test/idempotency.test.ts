import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@tributary/kit/postgres/migrate";
import { silentLog } from "@tributary/kit/process/log";
import { createTestDatabase } from "@tributary/kit/testing/database";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { lockNumberOf } from "@tributary/kit/idempotency/idempotency-records";
import { migrations, type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

const placeWithKey = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order {
  id status placedAt customer { id } total { display } lines { quantity unitPrice { display } product { sku title stock price { display } post { id } } } } } }`;

const rest = (key: string, lines: readonly object[], token = orders.ada) =>
  orders.rest("POST", "/v1/orders", { token, body: { lines }, headers: { "idempotency-key": key } });
const rest2 = (key: string, lines: readonly object[]) =>
  orders.rest("POST", "/v2/orders", { token: orders.ada, body: { lines }, headers: { "idempotency-key": key } });
const graphql = (idempotencyKey: string, lines: readonly object[], token = orders.ada) =>
  orders.graphql(placeWithKey, { input: { lines, idempotencyKey } }, token);

const qty = [
  { sku: "NOTES", qty: 2 },
  { sku: "COMPILER", qty: 1 },
];
const quantity = [
  { sku: "COMPILER", quantity: 1 },
  { sku: "NOTES", quantity: 2 },
];

for (const [version, place] of [
  ["version 1", () => rest("bytes-1", qty)],
  ["version 2", () => rest2("bytes-2", quantity)],
] as const) {
  test(`a repeated request gets the same bytes and places no order, in ${version}`, async () => {
    const first = await place();
    const before = await orders.count();
    // The order has changed since the first response.
    await orders.graphql(
      `mutation ($id: ID!) { advanceOrder(input: { id: $id, to: PAID }) { order { id } } }`,
      { id: first.body.id },
      orders.keeper,
    );
    const again = await place();
    expect([first.status, first.headers.has("idempotency-replayed")]).toEqual([201, false]);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    for (const name of ["location", "etag", "content-type", "cache-control"])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(await orders.count()).toEqual(before);
  });
}

test("both versions share keys: each renders the order in its own format, and equal input has the same fingerprint", async () => {
  const first = [await rest("versions-1", qty), await rest2("versions-1", quantity)] as const;
  const second = [await rest2("versions-2", quantity), await rest("versions-2", qty)] as const;
  const before = await orders.count();
  for (const [placed, replayed] of [first, second]) {
    expect([placed.status, replayed.status, replayed.body.id]).toEqual([201, 201, placed.body.id]);
    expect(replayed.headers.get("idempotency-replayed")).toBe("true");
  }
  expect(first[1].headers.get("location")).toBe(`/v2/orders/${first[0].body.id}`);
  expect(first[1].body.total).toEqual({ amountMinor: 5048, currency: "EUR" });
  // A replay in either version equals the first response in that version.
  expect((await rest2("versions-1", quantity)).text).toBe(first[1].text);
  expect((await rest("versions-2", qty)).text).toBe(second[1].text);
  expect(await orders.count()).toEqual(before);
});

test("GraphQL replays too, with the products as at the first response", async () => {
  const first = await graphql("graph", quantity);
  await orders.database.database.rows(
    "change",
    "update products set price_minor = 1, title = 'Other', post_id = 9, stock = 500 where sku = 'NOTES'",
  );
  expect(await graphql("graph", quantity)).toEqual(first);
  expect(first.data.placeOrder.order.lines[1].product).not.toMatchObject({ title: "Other" });
  await orders.database.database.rows(
    "back",
    "update products set price_minor = 1299, title = 'Notes', post_id = 1 where sku = 'NOTES'",
  );
});

test("both endpoints share keys: the other one renders the same order", async () => {
  const first = await rest("endpoints", qty);
  const { data } = await graphql("endpoints", quantity);
  expect(data.placeOrder.order).toMatchObject({
    id: first.body.id,
    placedAt: first.body.placedAt,
    total: { display: "€50.48" },
  });
  const placed = await graphql("endpoints-back", quantity);
  const replayed = await rest("endpoints-back", qty);
  expect([replayed.status, replayed.body.id]).toEqual([201, placed.data.placeOrder.order.id]);
});

test("a key with other lines is rejected, at both endpoints and in both versions", async () => {
  await rest("reused", qty);
  const before = await orders.count();
  const other = await rest("reused", [
    { sku: "NOTES", qty: 3 },
    { sku: "COMPILER", qty: 1 },
  ]);
  expect([other.status, other.body.type]).toEqual([422, "/problems/idempotency-key-reused"]);
  const second = await rest2("reused", [{ sku: "NOTES", quantity: 2 }]);
  expect([second.status, second.body.type]).toEqual([422, "/problems/idempotency-key-reused"]);
  const { errors } = await graphql("reused", [{ sku: "NOTES", quantity: 2 }]);
  expect(errors?.[0]?.extensions.code).toBe("IDEMPOTENCY_KEY_REUSED");
  expect(await orders.count()).toEqual(before);
});

test("the sequence of the lines does not matter", async () => {
  const first = await rest("order", qty);
  expect((await rest("order", qty.toReversed())).text).toBe(first.text);
});

test("keys are separate for each caller", async () => {
  const [ada, grace] = [await rest("shared", qty), await rest("shared", qty, orders.grace)];
  expect([ada.status, grace.status]).toEqual([201, 201]);
  expect(grace.body.id).not.toBe(ada.body.id);
  expect(grace.headers.has("idempotency-replayed")).toBe(false);
});

test("a key in quotes (structured field) equals the key without quotes, at both endpoints", async () => {
  const first = await rest('"quoted"', qty);
  const before = await orders.count();
  expect((await rest("quoted", qty)).text).toBe(first.text);
  expect((await rest2('"quoted"', quantity)).body.id).toBe(first.body.id);
  expect((await graphql("quoted", quantity)).data.placeOrder.order.id).toBe(first.body.id);
  expect(await orders.count()).toEqual(before);
  const escaped = await rest(String.raw`"a\"b\\c"`, qty);
  expect((await rest(String.raw`a"b\c`, qty)).body.id).toBe(escaped.body.id);
  for (const key of ['"two words"', '"a", "b"', `"${"x".repeat(256)}"`, '"unclosed', '"wrong\\escape"', '""']) {
    expect([key, (await rest(key, qty)).status]).toEqual([key, 400]);
  }
});

test("a rejected request is not recorded: the same request can succeed later", async () => {
  const many = [{ sku: "LAST-SEVEN", qty: 8 }];
  expect((await rest("later", many)).status).toBe(409);
  await orders.database.database.rows("more", "update products set stock = 8 where sku = 'LAST-SEVEN'");
  const placed = await rest("later", many);
  expect([placed.status, placed.headers.has("idempotency-replayed")]).toEqual([201, false]);
});

test("while a request with the key is in flight, another gets 409 with Retry-After", async () => {
  const { database } = orders.database;
  await database.transaction(async (transaction) => {
    await transaction.rows("hold", "select pg_advisory_xact_lock($1::bigint)", [
      lockNumberOf({ callerId: "1", key: "busy" }),
    ]);
    for (const { status, headers, body } of [await rest("busy", qty), await rest2("busy", quantity)]) {
      const expected = [status, headers.get("retry-after"), body.type];
      expect(expected).toEqual([409, "1", "/problems/idempotency-key-in-flight"]);
    }
    expect((await graphql("busy", quantity)).errors?.[0]?.extensions.code).toBe("IDEMPOTENCY_KEY_IN_FLIGHT");
  });
  expect((await rest("busy", qty)).status).toBe(201);
});

test("after 24 hours a key can be reused, and old records are deleted", async () => {
  const first = await rest("old", qty);
  for (const key of ["older-1", "older-2"]) await rest(key, qty);
  const age = "update idempotency_records set created_at = now() - make_interval(hours => 24) where key like 'old%'";
  await orders.database.database.rows("age", age);
  const again = await rest("old", qty);
  expect(again.status).toBe(201);
  expect(again.body.id).not.toBe(first.body.id);
  const left = await orders.database.database.rows<{ key: string }>(
    "left",
    "select key from idempotency_records where key like 'old%'",
  );
  expect(left).toEqual([{ key: "old" }]);
  expect((await rest("old", qty)).body.id).toBe(again.body.id);
});

test("just before 24 hours have passed, a key still replays its order", async () => {
  const first = await rest("almost", qty);
  const age = "update idempotency_records set created_at = now() - interval '23 hours 59 minutes' where key = 'almost'";
  await orders.database.database.rows("age-almost", age);
  expect((await rest("almost", qty)).text).toBe(first.text);
});

test("a replay's response has a position after all writes before it: the caller's receipt keeps the later ones", async () => {
  const first = await rest("position", qty);
  const later = await rest("position-later", qty);
  const again = await rest("position", qty);
  expect(first.headers.get("write-position")).toMatch(/^[0-9a-f-]{36}\/\d+$/);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(xidOf(again)).toBeGreaterThan(xidOf(later));
});

const cancel = (id: string, key: string, { version = "v1", token = orders.ada, headers = {} } = {}) =>
  orders.rest("POST", `/${version}/orders/${id}/cancellation`, {
    token,
    headers: { "idempotency-key": key, ...headers },
  });

test.each(["v1", "v2"])("a repeated cancellation gets the same bytes and changes nothing, in %s", async (version) => {
  const stock = await orders.stockOf("NOTES");
  const id = await orders.place(orders.ada);
  const read = await orders.rest("GET", `/${version}/orders/${id}`, { token: orders.ada });
  // The first cancellation changes the order's ETag, so a repetition could not meet its condition.
  const headers = { "if-match": read.headers.get("etag") ?? "" };
  const first = await cancel(id, `cancel-${version}`, { version, headers });
  expect([first.status, first.body.status, first.headers.has("idempotency-replayed")]).toEqual([
    ...[200, "CANCELLED", false],
  ]);
  const again = await cancel(id, `cancel-${version}`, { version, headers });
  expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([200, first.text, "true"]);
  for (const name of ["etag", "cache-group-invalidation"])
    expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
  const otherVersion = await cancel(id, `cancel-${version}`, { version: version === "v1" ? "v2" : "v1" });
  expect([otherVersion.status, otherVersion.body.id]).toEqual([200, id]);
  expect(await orders.stockOf("NOTES")).toBe(stock);
  expect((await cancel(id, `other-${version}`, { version })).body.type).toBe("/problems/invalid-state");
});

test("GraphQL and REST replay each other's cancellations, and each its own", async () => {
  const document = `mutation ($input: CancelOrderInput!) {
    cancelOrder(input: $input) { order { id status placedAt total { amountMinor } } }
  }`;
  const cancelByGraphql = (id: string, idempotencyKey: string) =>
    orders.graphql(document, { input: { id, idempotencyKey } }, orders.ada);
  const stock = await orders.stockOf("NOTES");
  const id = await orders.place(orders.ada);
  const first = await cancelByGraphql(id, "graph-cancel");
  expect(first).toMatchObject({ data: { cancelOrder: { order: { id, status: "CANCELLED" } } } });
  expect(await cancelByGraphql(id, "graph-cancel")).toEqual(first);
  const byRest = await cancel(id, "graph-cancel", { version: "v2" });
  expect([byRest.status, byRest.body.id, byRest.headers.get("idempotency-replayed")]).toEqual([200, id, "true"]);
  expect(await orders.stockOf("NOTES")).toBe(stock);

  const other = await orders.place(orders.ada);
  await cancel(other, "rest-cancel");
  expect((await cancelByGraphql(other, "rest-cancel")).data.cancelOrder.order.status).toBe("CANCELLED");
  const codes = [await cancelByGraphql(other, "graph-cancel"), await cancelByGraphql(other, "another")];
  expect(codes.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual(["IDEMPOTENCY_KEY_REUSED", "INVALID_STATE"]);
});

test("a key that placed an order, or cancelled another one, is rejected", async () => {
  const placed = await rest("placed-and-cancelled", qty);
  const other = await orders.place(orders.ada);
  await cancel(other, "other-cancelled");
  for (const key of ["placed-and-cancelled", "other-cancelled"]) {
    const { status, body } = await cancel(placed.body.id, key);
    expect([key, status, body.type]).toEqual([key, 422, "/problems/idempotency-key-reused"]);
  }
  expect((await rest("other-cancelled", qty)).body.type).toBe("/problems/idempotency-key-reused");
});

test("a rejected cancellation is not recorded, and an invalid key is rejected after a missing permission", async () => {
  const id = await orders.place(orders.ada);
  expect((await cancel(id, "condition", { headers: { "if-match": '"1-v1.000000-whole"' } })).status).toBe(412);
  const reader = await orders.issuer.token("1", ["orders:read"]);
  for (const key of ["two words", ""]) {
    expect([key, (await cancel(id, key)).status]).toEqual([key, 400]);
    expect([key, (await cancel(id, key, { token: reader })).status]).toEqual([key, 403]);
  }
  expect((await cancel("x", "condition")).status).toBe(404);
  const cancelled = await cancel(id, "condition");
  expect([cancelled.status, cancelled.headers.has("idempotency-replayed")]).toEqual([200, false]);
});

test("of many concurrent cancellations with one key none is rejected as cancelled already", async () => {
  const stock = await orders.stockOf("NOTES");
  const id = await orders.place(orders.ada);
  const responses = await Promise.all(Array.from({ length: 20 }, () => cancel(id, "concurrent")));
  const rejected = responses.filter(({ status }) => status !== 200);
  expect(rejected.map(({ body }) => body.type)).toEqual(rejected.map(() => "/problems/idempotency-key-in-flight"));
  expect(responses.length - rejected.length).toBeGreaterThan(0);
  expect(await orders.stockOf("NOTES")).toBe(stock);
});

test("a cancellation is not replayed for a caller who may no longer cancel the order", async () => {
  const id = await orders.place(orders.ada);
  const keeper = await orders.issuer.token("3", ["orders:write:all"]);
  const customer = await orders.issuer.token("3", ["orders:write"]);
  expect((await cancel(id, "demoted", { token: keeper })).status).toBe(200);
  expect((await cancel(id, "demoted", { token: keeper })).headers.get("idempotency-replayed")).toBe("true");
  expect((await cancel(id, "demoted", { token: customer })).status).toBe(404);
});

/** The statement of the previous release, for a copy of the record with the key `$2`. */
const insertAsPreviousRelease = `insert into idempotency_records (customer_id, key, fingerprint, order_id, snapshot)
  select customer_id, $1, fingerprint, order_id, snapshot from idempotency_records where key = $2
  on conflict (customer_id, key) do update set fingerprint = excluded.fingerprint,
    order_id = excluded.order_id, snapshot = excluded.snapshot, created_at = excluded.created_at`;

test("during a rollout both releases replay each other's orders", async () => {
  const { rows } = orders.database.database;
  const first = await rest("rollout", qty);
  expect(
    await rows("read-previous", "select customer_id, order_id from idempotency_records where key = 'rollout'"),
  ).toEqual([{ customer_id: "1", order_id: first.body.id }]);

  await rows("insert-previous", insertAsPreviousRelease, ["rollout-previous", "rollout"]);
  const replayed = await rest("rollout-previous", qty);
  expect([replayed.headers.get("idempotency-replayed"), replayed.text]).toEqual(["true", first.text]);
});

test("an expired record is overwritten", async () => {
  await rest("overwritten", qty);
  await orders.database.database.rows(
    "age-overwritten",
    "update idempotency_records set created_at = now() - interval '25 hours' where key = 'overwritten'",
  );
  const placed = await rest("overwritten", qty);
  const replayed = await rest("overwritten", qty);
  expect(replayed.text).toBe(placed.text);
  expect(replayed.headers.get("idempotency-replayed")).toBe("true");
});

test("the migration to idempotency_keys preserves the records of the previous release", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tributary-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  // Without 0007 and the later migrations.
  cpSync(migrations, directory, { recursive: true, filter: (file) => !/000[7-9]-/.test(file) });
  const old = await createTestDatabase(inject("postgresUrl"), directory);
  onTestFinished(() => old.close());
  const order = `insert into orders (id, customer_id, total_minor, currency)
    values ('019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b', 1, 1299, 'EUR')`;
  await old.database.rows("order", order);
  const record = `insert into idempotency_records (customer_id, key, fingerprint, order_id, snapshot)
    select 1, 'kept', sha256('x'), id, '{"order": {}}' from orders`;
  await old.database.rows("record", record);
  await migrate({ databaseUrl: old.url, directory: migrations.pathname, log: silentLog });
  expect(await old.database.rows("kept", "select * from idempotency_keys")).toEqual([
    {
      caller_id: "1",
      key: "kept",
      fingerprint: expect.any(Buffer),
      entity_id: "019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b",
      snapshot: { order: {} },
      created_at: expect.any(Date),
      write_xid: null,
      write_epoch: null,
    },
  ]);
});

function xidOf({ headers }: { readonly headers: Headers }): number {
  return Number(headers.get("write-position")?.split("/")[1]);
}
