import { afterAll, beforeAll, expect, test } from "vitest";
import { type OrderStatus, orderStatuses } from "../src/model.ts";
import { type Orders, startOrders } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order {
  id status placedAt customer { id } total { amountMinor currency display }
  lines { quantity unitPrice { display } product { sku title stock price { amountMinor } post { id } } } } } }`;

test("a placed order has all fields", async () => {
  const input = {
    lines: [
      { sku: "NOTES", quantity: 2 },
      { sku: "COMPILER", quantity: 1 },
    ],
  };
  const { data, errors } = await orders.graphql(place, { input }, orders.ada);
  expect(errors).toBeUndefined();
  const { id, placedAt, ...order } = data.placeOrder.order;
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(placedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(order).toEqual({
    status: "PLACED",
    customer: { id: "1" },
    total: { amountMinor: 5048, currency: "EUR", display: "€50.48" },
    lines: [
      {
        quantity: 1,
        unitPrice: { display: "€24.50" },
        product: {
          sku: "COMPILER",
          title: "The Education of a Computer",
          stock: 999,
          price: { amountMinor: 2450 },
          post: { id: "2" },
        },
      },
      {
        quantity: 2,
        unitPrice: { display: "€12.99" },
        product: {
          sku: "NOTES",
          title: "Notes on the Analytical Engine",
          stock: 998,
          price: { amountMinor: 1299 },
          post: { id: "1" },
        },
      },
    ],
  });
});

test("a unit price remains when the product's price changes", async () => {
  const id = await orders.place(orders.ada, [{ sku: "TOKYO", qty: 1 }]);
  await orders.database.database.rows("dearer", "update products set price_minor = 1400 where sku = 'TOKYO'");
  const query = `query ($id: ID!) { order(id: $id) { total { display } lines { unitPrice { display } product { price { display } post { id } } } } }`;
  const { data } = await orders.graphql(query, { id }, orders.ada);
  expect(data.order).toEqual({
    total: { display: "¥1,300" },
    lines: [{ unitPrice: { display: "¥1,300" }, product: { price: { display: "¥1,400" }, post: null } }],
  });
});

test("a malformed id is null, not an error", async () => {
  const impossible = [
    "0",
    "-1",
    "x",
    "",
    "1 or 1=1",
    "NOTES\u0000",
    "0190b5f0-0000-4000-8000-000000000000",
    "0190B5F0-0000-7000-8000-000000000000",
  ];
  const query = `query ($id: ID!) { order(id: $id) { id } product(sku: $id) { sku } }`;
  for (const id of impossible) {
    expect(await orders.graphql(query, { id }, orders.ada)).toEqual({
      status: 200,
      data: { order: null, product: null },
    });
  }
});

test("every client may list products, sorted by sku, page by page", async () => {
  const query = `query ($after: String) { products(first: 3, after: $after) { nodes { sku } edges { node { title } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
  const first = await orders.graphql(query);
  expect(first.data.products.nodes).toEqual([{ sku: "COMPILER" }, { sku: "LAST-SEVEN" }, { sku: "NOTES" }]);
  const second = await orders.graphql(query, { after: first.data.products.pageInfo.endCursor });
  expect(second.data.products).toMatchObject({
    nodes: [{ sku: "TOKYO" }, { sku: "VAULT" }],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
});

test("the caller's orders are newest first, by cursor and status; a cursor is valid only for its owner", async () => {
  const ids = [await orders.place(orders.grace), await orders.place(orders.grace), await orders.place(orders.grace)];
  const list = `query ($after: String, $status: OrderStatus) { orders(first: 2, after: $after, status: $status) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
  const first = await orders.graphql(list, {}, orders.grace);
  expect(first.data.orders.nodes).toEqual([{ id: ids[2] }, { id: ids[1] }]);
  const after = first.data.orders.pageInfo.endCursor;
  const second = await orders.graphql(list, { after }, orders.grace);
  expect(second.data.orders).toMatchObject({ nodes: [{ id: ids[0] }], pageInfo: { hasNextPage: false } });
  expect((await orders.graphql(list, { status: "PAID" }, orders.grace)).data.orders.nodes).toEqual([]);
  for (const [variables, token] of [
    [{ after, status: "PLACED" }, orders.grace],
    [{ after }, orders.ada],
  ] as const) {
    expect((await orders.graphql(list, variables, token)).errors?.[0]?.extensions.code).toBe("INVALID_CURSOR");
  }
});

test("User.orders continues after an order's id, and is empty after a malformed one", async () => {
  const user = await orders.issuer.token("77", ["orders:read", "orders:write"]);
  const ids = [await orders.place(user), await orders.place(user), await orders.place(user)];
  const query = `query ($after: ID) { _entities(representations: [{ __typename: "User", id: "77" }]) { ... on User { orders(first: 2, after: $after) { id } } } }`;
  const listAfter = async (after?: string) => {
    const { data } = await orders.graphql(query, { after }, user);
    return data._entities[0].orders.map(({ id }: { id: string }) => id);
  };
  for (const none of [undefined, ""]) expect(await listAfter(none)).toEqual([ids[2], ids[1]]);
  expect(await listAfter(ids[1])).toEqual([ids[0]]);
  expect(await listAfter("x")).toEqual([]);
});

test("the orders of twenty users with lines and products need three statements, each user's newest first", async () => {
  const customers = Array.from({ length: 20 }, (_, index) => String(100 + index));
  for (const customer of customers) {
    const token = await orders.issuer.token(customer, ["orders:write"]);
    await orders.place(token);
    await orders.place(token, [
      { sku: "COMPILER", qty: 2 },
      { sku: "NOTES", qty: 1 },
    ]);
  }
  orders.database.takeStatements();
  const representations = customers.map((id) => ({ __typename: "User", id }));
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
    ... on User { id orders { id total { display } lines { quantity product { title } } } } } }`;
  const { data, errors } = await orders.graphql(query, { representations }, orders.keeper);
  expect(errors).toBeUndefined();
  expect(orders.database.takeStatements()).toEqual(["list-parts", "find-lines", "find-products"]);
  for (const [index, user] of data._entities.entries()) {
    expect(user.id).toBe(customers[index]);
    expect(user.orders.map((order: { total: object }) => order.total)).toEqual([
      { display: "€61.99" },
      { display: "€12.99" },
    ]);
  }
});

test("the same field with two different arguments, for many users, is one statement with correct results", async () => {
  const user = await orders.issuer.token("78", ["orders:read", "orders:write"]);
  const ids = [await orders.place(user), await orders.place(user)];
  const query = `{ _entities(representations: [{ __typename: "User", id: "78" }, { __typename: "User", id: "x" }]) { ... on User { newest: orders(first: 1) { id } all: orders { id } } } }`;
  const reader = await orders.issuer.token("3", ["orders:read:all"]);
  orders.database.takeStatements();
  const { data } = await orders.graphql(query, {}, reader);
  expect(orders.database.takeStatements()).toEqual(["list-parts"]);
  expect(data._entities).toEqual([
    { newest: [{ id: ids[1] }], all: [{ id: ids[1] }, { id: ids[0] }] },
    { newest: [], all: [] },
  ]);
});

test("a hundred references to orders and products are one statement each", async () => {
  const id = await orders.place(orders.ada);
  orders.database.takeStatements();
  const representations = Array.from({ length: 100 }, (_, index) =>
    index % 2 === 0
      ? { __typename: "Product", sku: index % 4 === 0 ? "NOTES" : "NONE" }
      : { __typename: "Order", id: index % 4 === 1 ? id : "x" },
  );
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Product { sku } ... on Order { id } } }`;
  const { data } = await orders.graphql(query, { representations }, orders.ada);
  expect(data._entities.slice(0, 4)).toEqual([{ sku: "NOTES" }, { id }, null, null]);
  expect(orders.database.takeStatements().toSorted()).toEqual(["find-orders", "find-products"]);
});

test("every problem of an input is reported at once, with its pointer", async () => {
  const input = {
    lines: [
      { sku: "NOTES", quantity: 0 },
      { sku: "NOTES", quantity: 100 },
    ],
    idempotencyKey: "two words",
  };
  const { data, errors } = await orders.graphql(place, { input }, orders.ada);
  expect(data).toEqual({ placeOrder: null });
  expect(errors?.[0]?.extensions.code).toBe("BAD_USER_INPUT");
  expect(errors?.[0]?.extensions.problems?.map(({ pointer }) => pointer)).toEqual([
    "#/lines/0/quantity",
    "#/lines/1/quantity",
    "#/lines/1/sku",
    "#/idempotencyKey",
  ]);
});

test("an order has 1 to 50 lines", async () => {
  const lines = Array.from({ length: 51 }, (_, index) => ({ sku: `S${index}`, quantity: 1 }));
  for (const input of [{ lines: [] }, { lines }]) {
    const { errors } = await orders.graphql(place, { input }, orders.ada);
    expect(errors?.[0]?.extensions).toMatchObject({ code: "BAD_USER_INPUT", problems: [{ pointer: "#/lines" }] });
  }
});

test("first must be 1 to 100, in every list", async () => {
  for (const first of [0, 101]) {
    const query = `{ products(first: ${first}) { nodes { sku } } orders(first: ${first}) { nodes { id } }
      _entities(representations: [{ __typename: "User", id: "1" }]) { ... on User { orders(first: ${first}) { id } } } }`;
    const { errors } = await orders.graphql(query, {}, orders.ada);
    const codes = Array.from({ length: 3 }, () => "BAD_USER_INPUT");
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(codes);
  }
});

test("mutations of one request see the results of earlier ones", async () => {
  const { data } = await orders.graphql(
    `mutation ($a: PlaceOrderInput!) {
      first: placeOrder(input: $a) { order { lines { product { stock } } } }
      second: placeOrder(input: $a) { order { lines { product { stock } } } }
    }`,
    { a: { lines: [{ sku: "COMPILER", quantity: 1 }] } },
    orders.ada,
  );
  const stocks = ["first", "second"].map((name) => data[name].order.lines[0].product.stock);
  expect(stocks[1]).toBe(stocks[0] - 1);
});

const advance = `mutation ($id: ID!, $to: OrderStatus!) { advanceOrder(input: { id: $id, to: $to }) { order { id status } } }`;
const cancel = `mutation ($id: ID!) { cancelOrder(input: { id: $id }) { order { id status lines { product { stock } } } } }`;

test("an order advances to DELIVERED, and each step increments its row version", async () => {
  const id = await orders.place(orders.ada);
  const read = () => orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
  const versionOf = ({ headers }: { headers: Headers }) => BigInt(headers.get("etag")?.split("-")[0]?.slice(1) ?? 0);
  const placed = versionOf(await read());
  for (const [index, to] of (["PAID", "SHIPPED", "DELIVERED"] as const).entries()) {
    const { data } = await orders.graphql(advance, { id, to }, orders.keeper);
    expect(data.advanceOrder.order).toEqual({ id, status: to });
    const now = await read();
    expect([versionOf(now), now.body.status]).toEqual([placed + BigInt(index + 1), to]);
  }
});

test("an order advances by one step; any other change is INVALID_STATE and leaves the status", async () => {
  const nextOf = { PLACED: "PAID", PAID: "SHIPPED", SHIPPED: "DELIVERED", DELIVERED: undefined, CANCELLED: undefined };
  for (const from of orderStatuses) {
    for (const to of orderStatuses) {
      const id = await orderIn(from);
      const { data, errors } = await orders.graphql(advance, { id, to }, orders.keeper);
      const isAllowed = nextOf[from] === to;
      const outcome = errors?.[0]?.extensions.code ?? data.advanceOrder.order.status;
      expect([from, to, outcome]).toEqual([from, to, isAllowed ? to : "INVALID_STATE"]);
      const { body } = await orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
      expect([from, to, body.status]).toEqual([from, to, isAllowed ? to : from]);
    }
  }
});

test("a placed or paid order can be cancelled; only a cancellation returns the stock", async () => {
  for (const from of orderStatuses) {
    const isAllowed = from === "PLACED" || from === "PAID";
    const id = await orderIn(from);
    const before = await orders.stockOf("NOTES");
    const { data, errors } = await orders.graphql(cancel, { id }, orders.ada);
    const outcome = errors?.[0]?.extensions.code ?? data.cancelOrder.order.status;
    expect([from, outcome]).toEqual([from, isAllowed ? "CANCELLED" : "INVALID_STATE"]);
    expect(await orders.stockOf("NOTES")).toBe(isAllowed ? before + 1 : before);
    if (isAllowed) expect(data.cancelOrder.order.lines).toEqual([{ product: { stock: before + 1 } }]);
  }
});

test("of a concurrent cancellation and advance one succeeds, and the stock matches", async () => {
  for (let round = 0; round < 5; round++) {
    const id = await orderIn("PAID");
    const before = await orders.stockOf("NOTES");
    await Promise.all([
      orders.graphql(advance, { id, to: "SHIPPED" }, orders.keeper),
      orders.graphql(cancel, { id }, orders.ada),
    ]);
    const { body } = await orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
    expect([body.status, await orders.stockOf("NOTES")]).toEqual(
      body.status === "CANCELLED" ? ["CANCELLED", before + 1] : ["SHIPPED", before],
    );
  }
});

test("an unknown order cannot change its status", async () => {
  for (const id of ["x", "0190b5f0-0000-7000-8000-000000000000"]) {
    for (const response of [
      orders.graphql(advance, { id, to: "PAID" }, orders.keeper),
      orders.graphql(cancel, { id }, orders.ada),
    ]) {
      expect((await response).errors?.[0]?.extensions.code).toBe("NOT_FOUND");
    }
  }
});

async function orderIn(status: OrderStatus): Promise<string> {
  const id = await orders.place(orders.ada);
  await orders.database.database.rows("set-status", "update orders set status = $2 where id = $1", [id, status]);
  return id;
}
