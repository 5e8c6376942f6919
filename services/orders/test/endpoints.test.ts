import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { findUnsent } from "@tributary/kit/testing/sent-requests";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../src/rest/routes.ts";
import { oneBook, type Orders, startOrders, usual } from "./fixtures.ts";

let orders: Orders;
beforeAll(async () => (orders = await startOrders()));
afterAll(() => orders.stop());

test("an order is the same at both endpoints", async () => {
  const lines = [
    { sku: "NOTES", qty: 2 },
    { sku: "COMPILER", qty: 3 },
  ];
  for (const id of [
    await orders.place(orders.ada, lines),
    await orders.place(orders.ada, [{ sku: "TOKYO", qty: 1 }]),
  ]) {
    const { data } = await orders.graphql(`query ($id: ID!) { order(id: $id) { ${fields} } }`, { id }, orders.ada);
    const { body } = await orders.rest("GET", `/v1/orders/${id}`, { token: orders.ada });
    expect(body).toEqual(toV1(data.order));
    const second = await orders.rest("GET", `/v2/orders/${id}`, { token: orders.ada });
    expect(second.body).toEqual(toV2(data.order));
  }
});

test("both endpoints list the same orders", async () => {
  const user = await orders.issuer.token("60", usual);
  for (let n = 0; n < 3; n++) await orders.place(user);
  const { data } = await orders.graphql(`{ orders { nodes { ${fields} } } ${ofUser("60")} }`, {}, user);
  const listed = data.orders.nodes.map(toV1);
  expect(listed).toHaveLength(3);
  expect(data._entities[0].orders.map(toV1)).toEqual(listed);
  for (const path of ["/v1/orders", "/v1/users/60/orders"]) {
    expect((await orders.rest("GET", path, { token: user })).body).toEqual(listed);
  }
  for (const path of ["/v2/orders", "/v2/users/60/orders"]) {
    expect((await orders.rest("GET", path, { token: user })).body.data).toEqual(data.orders.nodes.map(toV2));
  }
});

test("a product is the same at both endpoints", async () => {
  const { data } = await orders.graphql(
    `{ products { nodes { sku title price { display amountMinor currency } stock post { id } } } }`,
  );
  const { body } = await orders.rest("GET", "/v1/products");
  const expected = data.products.nodes.map(({ sku, title, price, stock, post }: GraphProduct) => ({
    sku,
    title,
    price: expect.stringMatching(/^\d+(\.\d\d)?$/),
    currency: price.currency,
    stock,
    postId: post?.id ?? null,
  }));
  expect(body).toEqual(expected);
  const second = await orders.rest("GET", "/v2/products");
  expect(second.body.data).toEqual(
    data.products.nodes.map(({ price: { amountMinor, currency }, post, ...product }: GraphProduct) => ({
      ...product,
      price: { amountMinor, currency },
      postId: post?.id ?? null,
    })),
  );
});

test("each endpoint reads and cancels orders of the other", async () => {
  const placed = await orders.graphql(place, { input: { lines: [{ sku: "NOTES", quantity: 1 }] } }, orders.ada);
  const { id } = placed.data.placeOrder.order;
  const cancelled = await orders.rest("POST", `/v1/orders/${id}/cancellation`, { token: orders.ada });
  expect(cancelled.body).toEqual({ ...toV1(placed.data.placeOrder.order), status: "CANCELLED" });
  const { data } = await orders.graphql(`query ($id: ID!) { order(id: $id) { status } }`, { id }, orders.ada);
  expect(data.order.status).toBe("CANCELLED");
});

test("both endpoints report the same problems, each with its own field names", async () => {
  const inputs = [
    [
      { sku: "NOTES", n: 0 },
      { sku: "NOTES", n: 1 },
    ],
    [
      { sku: "NOTES", n: 1 },
      { sku: "NONE", n: 1 },
    ],
    [
      { sku: "NOTES", n: 1 },
      { sku: "TOKYO", n: 1 },
    ],
    [
      { sku: "NOTES", n: 1 },
      { sku: "LAST-SEVEN", n: 99 },
    ],
    [{ sku: "VAULT", n: 2 }],
    [],
  ];
  for (const lines of inputs) {
    const input = { lines: lines.map(({ sku, n }) => ({ sku, quantity: n })) };
    const { errors = [] } = await orders.graphql(place, { input }, orders.ada);
    const body = { lines: lines.map(({ sku, n }) => ({ sku, qty: n })) };
    const problem = (await orders.rest("POST", "/v1/orders", { token: orders.ada, body })).body;
    expect(errors[0]?.extensions.problems?.length).toBeGreaterThan(0);
    expect(problem.errors).toEqual(
      errors[0]?.extensions.problems?.map((output) => ({
        ...output,
        pointer: output.pointer.replace("/quantity", "/qty"),
      })),
    );
    expect([codeOf(problem), problem.detail]).toEqual([errors[0]?.extensions.code, errors[0]?.message]);
    const headers = { "idempotency-key": randomUUID() };
    const second = (await orders.rest("POST", "/v2/orders", { token: orders.ada, body: input, headers })).body;
    expect([codeOf(second), second.errors]).toEqual([errors[0]?.extensions.code, errors[0]?.extensions.problems]);
  }
});

interface Caller {
  readonly userId?: string;
  readonly scopes?: readonly string[];
}

/** The callers, for a new order of Ada. */
const callers = {
  anonymous: {},
  customer: { userId: "1", scopes: ["orders:read", "orders:write"] },
  withoutScope: { userId: "1", scopes: ["users:write", "posts:write:all"] },
  another: { userId: "2", scopes: usual },
  reader: { userId: "3", scopes: ["orders:read:all"] },
  keeper: { userId: "3", scopes: ["orders:write:all"] },
} as const satisfies Readonly<Record<string, Caller>>;

type Outcome = "allowed" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_FOUND";
type Send = (id: string, token?: string) => Promise<string>;

interface Action {
  /** The expected outcome for each caller, in the order of `callers`. */
  readonly whoMay: readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];
  readonly writes?: true;
  /** The request at each endpoint. It resolves to `allowed` or the error code. */
  readonly endpoints: Readonly<Record<string, Send>>;
}

const actions: Readonly<Record<string, Action>> = {
  "read a product": {
    whoMay: ["allowed", "allowed", "allowed", "allowed", "allowed", "allowed"],
    endpoints: {
      graphql: (_id, token) => byGraphql(`{ product(sku: "NOTES") { title post { id } } }`, {}, token),
      entity: (_id, token) =>
        byGraphql(
          `{ _entities(representations: [{ __typename: "Product", sku: "NOTES" }]) { ... on Product { stock } } }`,
          {},
          token,
        ),
      ...byBothVersions("GET", () => "/products/NOTES"),
    },
  },
  "list products": {
    whoMay: ["allowed", "allowed", "allowed", "allowed", "allowed", "allowed"],
    endpoints: {
      graphql: (_id, token) => byGraphql(`{ products { nodes { sku } } }`, {}, token),
      ...byBothVersions("GET", () => "/products"),
    },
  },
  "read an order": {
    whoMay: ["UNAUTHENTICATED", "allowed", "FORBIDDEN", "NOT_FOUND", "allowed", "FORBIDDEN"],
    endpoints: {
      graphql: (id, token) => byGraphql(`query ($id: ID!) { order(id: $id) { total { display } } }`, { id }, token),
      alias: (id, token) =>
        byGraphql(
          `query ($id: ID!) { o: order(id: $id) { ...f } } fragment f on Order { lines { quantity } }`,
          { id },
          token,
        ),
      entity: (id, token) =>
        byGraphql(
          `{ _entities(representations: [{ __typename: "Order", id: "${id}" }]) { ... on Order { customer { id } } } }`,
          {},
          token,
        ),
      ...byBothVersions("GET", (id) => `/orders/${id}`),
    },
  },
  "list one's own orders": {
    whoMay: ["UNAUTHENTICATED", "allowed", "FORBIDDEN", "allowed", "allowed", "FORBIDDEN"],
    endpoints: {
      graphql: (_id, token) => byGraphql(`{ orders { nodes { id } } }`, {}, token),
      ...byBothVersions("GET", () => "/orders"),
    },
  },
  "list Ada's orders": {
    whoMay: ["UNAUTHENTICATED", "allowed", "FORBIDDEN", "FORBIDDEN", "allowed", "FORBIDDEN"],
    endpoints: {
      entity: (_id, token) => byGraphql(`{ ${ofUser("1")} }`, {}, token),
      ...byBothVersions("GET", () => "/users/1/orders"),
    },
  },
  "place an order": {
    whoMay: ["UNAUTHENTICATED", "allowed", "FORBIDDEN", "allowed", "FORBIDDEN", "FORBIDDEN"],
    writes: true,
    endpoints: {
      graphql: (_id, token) => byGraphql(place, { input: { lines: [{ sku: "NOTES", quantity: 1 }] } }, token),
      v1: (_id, token) => byRest("POST", "/v1/orders", token, { lines: oneBook }),
      v2: (_id, token) => byRest("POST", "/v2/orders", token, { lines: [{ sku: "NOTES", quantity: 1 }] }),
    },
  },
  "cancel an order": {
    whoMay: ["UNAUTHENTICATED", "allowed", "FORBIDDEN", "NOT_FOUND", "FORBIDDEN", "allowed"],
    writes: true,
    endpoints: {
      graphql: (id, token) => byGraphql(cancel, { input: { id } }, token),
      ...byBothVersions("POST", (id) => `/orders/${id}/cancellation`),
    },
  },
  "advance an order": {
    whoMay: ["UNAUTHENTICATED", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "allowed"],
    writes: true,
    endpoints: { graphql: (id, token) => byGraphql(advance, { input: { id, to: "PAID" } }, token) },
  },
};

for (const [name, { whoMay, writes = false, endpoints }] of Object.entries(actions)) {
  test(`${name} has the expected outcome for each caller through every endpoint, and only an allowed one has an effect`, async () => {
    for (const [endpoint, send] of Object.entries(endpoints)) {
      for (const [index, [label, caller]] of Object.entries(callers).entries()) {
        const id = await orders.place(orders.ada);
        const before = await hashRows();
        const outcome = await send(id, await tokenOf(caller));
        const isChanged = (await hashRows()) !== before;
        const expected = whoMay[index];
        expect([endpoint, label, outcome, isChanged]).toEqual([
          endpoint,
          label,
          expected,
          writes && expected === "allowed",
        ]);
      }
    }
  });
}

test("the table has a request for every root field and every route", async () => {
  const sdl = await readFile(new URL("../schema.graphql", import.meta.url), "utf8");
  const id = await orders.place(orders.ada);
  orders.takeSent();
  for (const { endpoints } of Object.values(actions)) for (const send of Object.values(endpoints)) await send(id);
  expect(findUnsent(sdl, routes, orders.takeSent()), "add an action to `actions` above").toEqual([]);
});

test("a caller who may read all orders but cancel none gets 403 for another user's order, not 404", async () => {
  const path = `/v1/orders/${await orders.place(orders.ada)}/cancellation`;
  const token = await orders.issuer.token("3", ["orders:read:all", "orders:write"]);
  expect(await byRest("POST", path, token)).toBe("FORBIDDEN");
});

test("an unauthorized caller needs no statement and gets no problems of the input", async () => {
  const id = await orders.place(orders.ada);
  orders.database.takeStatements();
  const bad = { nothing: "of this" };
  const reader = await tokenOf(callers.reader);
  for (const path of ["/v1/orders", "/v2/orders", `/v1/orders/${id}/cancellation`]) {
    expect(await byRest("POST", path, undefined, bad)).toBe("UNAUTHENTICATED");
    expect(await byRest("POST", path, reader, bad)).toBe("FORBIDDEN");
  }
  expect(await byRest("GET", `/v1/orders/${id}`)).toBe("UNAUTHENTICATED");
  expect(await byGraphql(`{ ${ofUser("1")} }`, {}, orders.grace)).toBe("FORBIDDEN");
  expect(orders.database.takeStatements()).toEqual([]);
});

test("without a token a user's orders are null with an error, and the other fields have data", async () => {
  const { status, data, errors } = await orders.graphql(
    `{ product(sku: "NOTES") { sku } order(id: "x") { id } ${ofUser("1")} }`,
  );
  expect([status, data]).toEqual([200, { product: { sku: "NOTES" }, order: null, _entities: [{ orders: null }] }]);
  expect(errors?.map(({ path, extensions }) => [path?.join("."), extensions.code]).toSorted()).toEqual([
    ["_entities.0.orders", "UNAUTHENTICATED"],
    ["order", "UNAUTHENTICATED"],
  ]);
});

test("a client cannot choose the customer of an order", async () => {
  const body = { lines: oneBook, customerId: "2" };
  expect(await byRest("POST", "/v1/orders", orders.ada, body)).toBe("BAD_USER_INPUT");
  const headers = { "x-user-id": "2", "x-customer-id": "2" };
  const placed = await orders.rest("POST", "/v1/orders", { token: orders.ada, body: { lines: oneBook }, headers });
  expect(placed.body.customerId).toBe("1");
});

const fields = `id status placedAt customer { id } total { amountMinor currency } lines { quantity unitPrice { amountMinor } product { sku } }`;
const place = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { ${fields} } } }`;
const cancel = `mutation ($input: CancelOrderInput!) { cancelOrder(input: $input) { order { ${fields} } } }`;
const advance = `mutation ($input: AdvanceOrderInput!) { advanceOrder(input: $input) { order { ${fields} } } }`;

function ofUser(id: string): string {
  return `_entities(representations: [{ __typename: "User", id: "${id}" }]) { ... on User { orders { ${fields} } } }`;
}

interface GraphProduct {
  readonly sku: string;
  readonly title: string;
  readonly price: { readonly amountMinor: number; readonly currency: string };
  readonly stock: number;
  readonly post: { readonly id: string } | null;
}

interface GraphOrder {
  readonly id: string;
  readonly status: string;
  readonly placedAt: string;
  readonly customer: { readonly id: string };
  readonly total: { readonly amountMinor: number; readonly currency: string };
  readonly lines: readonly {
    readonly quantity: number;
    readonly unitPrice: { readonly amountMinor: number };
    readonly product: { readonly sku: string };
  }[];
}

/** The version 1 JSON of a GraphQL order, independent of the service's code. */
function toV1({ id, status, placedAt, customer, total, lines }: GraphOrder) {
  const decimal = (minor: number) => (total.currency === "JPY" ? String(minor) : (minor / 100).toFixed(2));
  return {
    id,
    customerId: customer.id,
    status,
    placedAt,
    total: decimal(total.amountMinor),
    currency: total.currency,
    lines: lines.map(({ quantity, unitPrice, product }) => ({
      sku: product.sku,
      qty: quantity,
      unitPrice: decimal(unitPrice.amountMinor),
    })),
  };
}

/** The version 2 JSON. */
function toV2({ customer, lines, ...order }: GraphOrder) {
  const { currency } = order.total;
  return {
    ...order,
    customerId: customer.id,
    lines: lines.map(({ quantity, unitPrice, product }) => ({
      sku: product.sku,
      quantity,
      unitPrice: { ...unitPrice, currency },
    })),
  };
}

async function byGraphql(query: string, variables: object, token?: string): Promise<string> {
  const { status, data, errors } = await orders.graphql(query, variables, token);
  expect(status).toBe(200);
  if (errors !== undefined) return errors[0]?.extensions.code ?? "no code";
  const [value] = Object.values(data as Record<string, unknown>);
  return (Array.isArray(value) ? value[0] : value) === null ? "NOT_FOUND" : "allowed";
}

/** Both versions have the same authorization rules. */
function byBothVersions(method: string, pathOf: (id: string) => string): Readonly<Record<"v1" | "v2", Send>> {
  const send =
    (version: string): Send =>
    (id, token) =>
      byRest(method, `/${version}${pathOf(id)}`, token);
  return { v1: send("v1"), v2: send("v2") };
}

async function byRest(method: string, path: string, token?: string, sent?: unknown): Promise<string> {
  const headers = { "idempotency-key": randomUUID() };
  const { status, body } = await orders.rest(method, path, { ...(token && { token }), body: sent, headers });
  if (status < 300) return "allowed";
  expect(status).toBe(body.status);
  return codeOf(body);
}

function codeOf(problem: { readonly type: string }): string {
  return problem.type.replace("/problems/", "").replaceAll("-", "_").toUpperCase();
}

async function tokenOf(caller: Caller): Promise<string | undefined> {
  return caller.userId === undefined ? undefined : orders.issuer.token(caller.userId, caller.scopes);
}

async function hashRows(): Promise<unknown> {
  const hashOf = (table: string, key: string) =>
    `(select md5(string_agg(t::text, '' order by ${key})) from ${table} t)`;
  const text = `select ${hashOf("orders", "id")} as orders, ${hashOf("products", "sku")} as products,
    ${hashOf("order_lines", "order_id, sku")} as lines, ${hashOf("idempotency_records", "key")} as records`;
  return JSON.stringify(await orders.database.database.rows("hash", text));
}
