import { afterEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import {
  composeSupergraph,
  respondJson,
  type RunningSubgraph,
  startSubgraph,
  type SubgraphOptions,
} from "./helpers/subgraphs.ts";

let gateway: RunningGateway;
let running: readonly RunningSubgraph[];

afterEach(async () => {
  await gateway.drain();
  await Promise.all(running.map((subgraph) => subgraph.close()));
});

async function start(...subgraphs: SubgraphOptions[]): Promise<readonly RunningSubgraph[]> {
  running = await Promise.all(subgraphs.map(startSubgraph));
  gateway = await startGateway({ supergraphSdl: composeSupergraph(running) });
  return running;
}

async function listPaths(query: string): Promise<{ data: unknown; paths: unknown[] }> {
  const { body } = await gateway.send(query);
  return { data: body.data, paths: body.errors.map(({ path }: { path: unknown }) => path) };
}

test("an object of another type, or without its key, does not shift the error paths of an entity fetch", async () => {
  await start(
    {
      name: "shelf",
      typeDefs: `
        type Query { things: [Thing] }
        union Thing = Book | Film
        type Film { title: String }
        type Book @key(fields: "isbn") { isbn: ID }
      `,
      resolvers: {
        Query: { things: () => [{ title: "Metropolis" }, { isbn: "b1" }, { isbn: null }, null, { isbn: "b2" }] },
        Thing: { __resolveType: (thing: object) => ("title" in thing ? "Film" : "Book") },
      },
    },
    {
      name: "shop",
      typeDefs: `type Query { open: Boolean } type Book @key(fields: "isbn") { isbn: ID price: Int }`,
      resolvers: {
        Book: {
          __resolveReference: ({ isbn }: { isbn: string }) => ({ isbn }),
          price: ({ isbn }: { isbn: string }) => {
            if (isbn === "b2") throw new Error("secret");
            return 5;
          },
        },
      },
    },
  );
  const { data, paths } = await listPaths("{ things { ... on Book { price } ... on Film { title } } }");
  expect(data).toEqual({ things: [{ title: "Metropolis" }, { price: 5 }, { price: 5 }, null, { price: null }] });
  expect(paths).toEqual([["things", 4, "price"]]);
});

test("a failed fetch of a key is an error at the field that needs it, not at the key that the client did not select", async () => {
  const [, numbers] = await start(
    {
      name: "shelf",
      typeDefs: `type Query { book: Book } type Book @key(fields: "isbn") { isbn: ID! }`,
      resolvers: { Query: { book: () => ({ isbn: "b1" }) } },
    },
    {
      name: "numbers",
      typeDefs: `type Book @key(fields: "isbn") @key(fields: "ean") { isbn: ID! ean: ID! }`,
      resolvers: { Book: { __resolveReference: () => ({ isbn: "b1", ean: "e1" }) } },
    },
    {
      name: "shop",
      typeDefs: `type Book @key(fields: "ean") { ean: ID! price: Int }`,
      resolvers: { Book: { __resolveReference: () => ({ ean: "e1" }), price: () => 5 } },
    },
  );
  expect((await gateway.send("{ book { price } }")).body).toEqual({ data: { book: { price: 5 } } });
  if (numbers) numbers.fault = (response) => response.destroy();
  expect(await listPaths("{ book { price } }")).toEqual({
    data: { book: { price: null } },
    paths: [["book", "price"]],
  });
});

test("a field that the planner renames has the client's name in the path", async () => {
  const [shelf] = await start(
    {
      name: "shelf",
      typeDefs: `
        type Query { things: [Thing] }
        union Thing = Book | Film
        type Film { code: Int }
        type Book @key(fields: "code") { code: ID! }
      `,
      resolvers: {
        Query: { things: () => [{ __typename: "Book", code: "b" }, { __typename: "Film" }] },
        Film: {
          code: () => {
            throw new Error("secret");
          },
        },
      },
    },
    {
      name: "shop",
      typeDefs: `type Book @key(fields: "code") { code: ID! pages: Int }`,
      resolvers: { Book: { __resolveReference: (key: object) => ({ ...key, pages: 300 }) } },
    },
  );
  // The planner needs the code of books, whose type differs from that of films.
  expect(await listPaths("{ things { ... on Book { pages } ... on Film { code } } }")).toEqual({
    data: { things: [{ pages: 300 }, { code: null }] },
    paths: [["things", 1, "code"]],
  });
  expect(shelf?.requests[0]?.body.query).toContain("code__alias_0:code");
});

test("errors in fields of a nested query object have the path of the client", async () => {
  await start(
    {
      name: "shelf",
      typeDefs: `type Query { self: Query @shareable first: Int }`,
      resolvers: { Query: { self: () => ({}), first: () => 1 } },
    },
    {
      name: "shop",
      typeDefs: `type Query { open: Int } type Mutation { order: Order } type Order { id: ID query: Query }`,
      resolvers: {
        Query: {
          open: () => {
            throw new Error("secret");
          },
        },
        Mutation: { order: () => ({ id: 1, query: {} }) },
      },
    },
  );
  expect(await listPaths("mutation { order { id query { first open } } }")).toEqual({
    data: { order: { id: "1", query: { first: 1, open: null } } },
    paths: [["order", "query", "open"]],
  });
  const [shelf] = running;
  if (shelf) shelf.fault = (response) => response.destroy();
  expect(await listPaths("mutation { order { query { first } } }")).toEqual({
    data: { order: { query: { first: null } } },
    paths: [["order", "query", "first"]],
  });
});

test("a __typename that no subgraph can resolve is an error, and its null propagates to the nearest nullable field", async () => {
  const [accounts] = await start(
    {
      name: "accounts",
      typeDefs: `
        type Query { any: Account }
        interface Account @key(fields: "id") { id: ID! }
        type Admin implements Account @key(fields: "id") { id: ID! }
      `,
      resolvers: {
        Account: { __resolveReference: ({ id }: { id: string }) => (id === "1" ? { __typename: "Admin", id } : null) },
      },
    },
    {
      name: "logins",
      typeDefs: `
        type Query { logins: [Login] all: [Account!] }
        type Login { account: Account! }
        type Account @key(fields: "id") @interfaceObject { id: ID! }
      `,
      resolvers: {
        Query: {
          logins: () => [{ account: { id: "1" } }, { account: { id: "unknown" } }],
          all: () => [{ id: "1" }, { id: "unknown" }],
        },
      },
    },
  );
  const query = "{ logins { account { id type: __typename } } all { __typename } }";
  expect(await listPaths(query)).toEqual({
    data: { logins: [{ account: { id: "1", type: "Admin" } }, null], all: null },
    paths: [
      ["logins", 1, "account", "type"],
      ["all", 1, "__typename"],
    ],
  });
  if (accounts) accounts.fault = (response) => response.destroy();
  expect(await listPaths("{ all { __typename } }")).toEqual({
    data: { all: null },
    paths: [
      ["all", 0, "__typename"],
      ["all", 1, "__typename"],
    ],
  });
});

const shopTypes = `
  scalar JSON
  type Query { product: Product products: [Product] must: Box }
  type Box { value: JSON! }
  type Product @key(fields: "id") { id: ID! }
`;
const stockTypes = `type Product @key(fields: "id") { id: ID! left: Int other: Int }`;

test.each([
  [["_entities0", 0, "left"], [["product", "left"]]],
  [
    ["_entities", 0, "left"],
    [["product"], ["products"]],
  ],
  [["left"], [["product"], ["products"]]],
])("an error of two entity fetches in one request is reported, whatever its path: %j", async (path, expected) => {
  const products = { product: { id: "1" }, products: [{ id: "2" }] };
  const [, stock] = await start(
    {
      name: "shop",
      typeDefs: shopTypes,
      resolvers: { Query: { product: () => products.product, products: () => products.products } },
    },
    {
      name: "stock",
      typeDefs: stockTypes,
      resolvers: { Product: { __resolveReference: (key: object) => ({ ...key, other: 3 }) } },
    },
  );
  if (stock)
    stock.fault = async (response, _body, _request, resolve) => {
      const errors = [{ message: "Not for you.", path, extensions: { code: "FORBIDDEN" } }];
      respondJson(response, 200, JSON.stringify({ ...(await resolve()), errors }));
    };
  const { data, paths } = await listPaths("{ product { left } products { other } }");
  expect(data).toEqual({ product: { left: null }, products: [{ other: 3 }] });
  expect(paths).toEqual(expected);
});

test("an alias of the client that looks like one of the planner is in the path of an error", async () => {
  const [shop] = await start({ name: "shop", typeDefs: "type Query { a: String }", resolvers: {} });
  if (shop)
    shop.fault = (response, { query }) => {
      const alias = /(\w+):a\b/.exec(query)?.[1] ?? "a";
      respondJson(
        response,
        200,
        JSON.stringify({ data: { [alias]: null }, errors: [{ message: "x", path: [alias] }] }),
      );
    };
  expect((await listPaths("{ x__alias_0: a }")).paths).toEqual([["x__alias_0"]]);
});

test("a number beyond a double is no value of a custom scalar", async () => {
  const [shop] = await start({
    name: "shop",
    typeDefs: shopTypes.replace(/type Product .*/, "type Product { id: ID! }"),
    resolvers: {},
  });
  if (shop) shop.fault = (response) => respondJson(response, 200, `{"data":{"must":{"value":1e400}}}`);
  expect(await listPaths("{ must { value } }")).toEqual({ data: { must: null }, paths: [["must", "value"]] });
});
