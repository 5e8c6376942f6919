import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, respondJson, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

/* A slow subgraph delays only its own fields and those that depend on them, also if other fetches could share a request with theirs. */

let posts: RunningSubgraph;
let orders: RunningSubgraph;
let users: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  [posts, orders, users] = await Promise.all([startPosts(), startOrders(), startUsers()]);
  const supergraphSdl = composeSupergraph([posts, orders, users]);
  gateway = await startGateway({ supergraphSdl, environment: { REQUEST_TIMEOUT_MS: "1000" } });
  // The first request of a process is planned, which takes long.
  await gateway.send(query);
});
beforeEach(() => {
  gateway.observations.length = 0;
  for (const subgraph of [posts, orders, users]) {
    subgraph.fault = undefined;
    subgraph.requests.length = 0;
  }
});
afterAll(async () => {
  await gateway.drain();
  await Promise.all([posts, orders, users].map((subgraph) => subgraph.close()));
});

const query = "{ posts { title author { name } } orders { total customer { name } } }";
const postsWithAuthors = [
  { title: "Engines", author: { name: "Ada" } },
  { title: "Compilers", author: { name: "Grace" } },
];
const ordersWithCustomers = [
  { total: 1, customer: { name: "Ada" } },
  { total: 2, customer: { name: "Linus" } },
];

test("fields that do not depend on a frozen subgraph are in the response, and the errors name the frozen one alone", async () => {
  orders.fault = () => {};
  const { body } = await gateway.send(query);
  expect(body.data).toEqual({ posts: postsWithAuthors, orders: null });
  expect(body.errors.map(({ path, extensions }: ClientError) => [path, extensions])).toEqual([
    [["orders"], { code: "SUBGRAPH_TIMEOUT", service: "orders" }],
  ]);
  expect(gateway.observations).toEqual([expect.objectContaining({ kind: "subgraph-fetch-failed", service: "orders" })]);
});

test("what depends on a slow subgraph is fetched when it has responded, apart from what did not wait for it", async () => {
  const heldOrders = hold(orders);
  const authors = hold(users);
  const result = gateway.send(query);
  const respondOrders = await heldOrders;
  // The orders have not been sent: the fetch of the authors did not wait for them.
  const respondAuthors = await authors;
  users.fault = undefined;
  await respondOrders();
  await respondAuthors();
  const { body } = await result;
  expect(body).toEqual({ data: { posts: postsWithAuthors, orders: ordersWithCustomers } });
  expect(users.requests.map(({ body: { variables } }) => variables)).toEqual([
    { representations: [representationOf("1"), representationOf("2")] },
    { representations: [representationOf("1"), representationOf("3")] },
  ]);
});

test("fetches that become ready at the same time share one request", async () => {
  const held = [hold(posts), hold(orders)];
  const result = gateway.send(query);
  const responds = await Promise.all(held);
  await Promise.all(responds.map((respond) => respond()));
  const { body } = await result;
  expect(body).toEqual({ data: { posts: postsWithAuthors, orders: ordersWithCustomers } });
  expect(users.requests.map(({ body: { variables } }) => variables)).toEqual([
    { representations: ["1", "2", "3"].map(representationOf) },
  ]);
});

interface ClientError {
  readonly path: readonly (string | number)[];
  readonly extensions: object;
}

function representationOf(id: string): object {
  return { __typename: "User", id };
}

/** Holds the next response of the subgraph. Resolves with a function that sends it, when the request has arrived. */
function hold(subgraph: RunningSubgraph): Promise<() => Promise<void>> {
  return new Promise((resolve) => {
    subgraph.fault = (response: ServerResponse, _body, _request, resolveCorrectly) =>
      resolve(async () => respondJson(response, 200, JSON.stringify(await resolveCorrectly())));
  });
}

function startPosts(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "posts",
    typeDefs: `
      type Query { posts: [Post] }
      type Post { title: String author: User }
      type User @key(fields: "id") { id: ID! }
    `,
    resolvers: {
      Query: {
        posts: () => [
          { title: "Engines", author: { id: "1" } },
          { title: "Compilers", author: { id: "2" } },
        ],
      },
    },
  });
}

function startOrders(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "orders",
    typeDefs: `
      type Query { orders: [Order] }
      type Order { total: Int customer: User }
      type User @key(fields: "id") { id: ID! }
    `,
    resolvers: {
      Query: {
        orders: () => [
          { total: 1, customer: { id: "1" } },
          { total: 2, customer: { id: "3" } },
        ],
      },
    },
  });
}

function startUsers(): Promise<RunningSubgraph> {
  const names: Readonly<Record<string, string>> = { 1: "Ada", 2: "Grace", 3: "Linus" };
  return startSubgraph({
    name: "users",
    typeDefs: 'type User @key(fields: "id") { id: ID! name: String }',
    resolvers: { User: { __resolveReference: ({ id }: { id: string }) => ({ id, name: names[id] }) } },
  });
}
