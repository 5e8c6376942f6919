import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import {
  type Fault,
  type RunningSubgraph,
  composeSupergraph,
  respondJson,
  startSubgraph,
} from "./helpers/subgraphs.ts";

describe("texts of a subgraph", () => {
  let library: Library;
  let gateway: RunningGateway;

  beforeAll(async () => {
    library = await startLibrary();
    gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
  });
  afterEach(() => {
    for (const subgraph of library.all) subgraph.fault = undefined;
  });
  afterAll(async () => {
    await gateway.drain();
    await library.close();
  });

  const respondWith =
    (body: unknown): Fault =>
    (response) =>
      respondJson(response, 200, JSON.stringify(body));

  test("after a response that cannot be decompressed the connection is used for the next fetch", async () => {
    const sockets = new Set<Socket>();
    library.people.fault = (response, _body, { socket }) => {
      sockets.add(socket);
      response.writeHead(200, { "content-encoding": "gzip" }).end(randomBytes(2_000_000));
    };
    for (let times = 0; times < 3; times++) {
      const { body } = await gateway.send("{ whoAmI }");
      expect(body.errors[0].extensions.code).toBe("SUBGRAPH_INVALID_RESPONSE");
    }
    expect(sockets.size).toBe(1);
  });

  test("an error path contains only steps of the client's operation, and no other text of the subgraph", async () => {
    library.people.fault = respondWith({
      data: { people: [{ name: "Ada" }], whoAmI: "x" },
      errors: [
        { message: "a", path: ["people", 0, "http://10.0.0.1:5432", "secret"] },
        { message: "b", path: ["http://10.0.0.1:5432"] },
        { message: "c", path: ["people", -1, "name"] },
        { message: "d", path: ["whoAmI"] },
      ],
    });
    const { body } = await gateway.send("{ people { name } whoAmI }");
    const places = body.errors.map(({ path }: { path?: unknown }) => path);
    expect(places).toEqual([["people", 0], undefined, ["people"], ["whoAmI"]]);
  });

  test("an error with a path of a million steps is reported like any other", async () => {
    const path = ["people", ...Array.from({ length: 1_000_000 }, () => 0)];
    library.people.fault = respondWith({ data: { people: null }, errors: [{ message: "x", path }] });
    const { body } = await gateway.send("{ people { name } }");
    expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_ERROR" } }]);
    expect(JSON.stringify(body).length).toBeLessThan(2_000);
  });
});

describe("values nested deeply", () => {
  let shop: RunningSubgraph;
  let stock: RunningSubgraph;
  let gateway: RunningGateway;

  beforeAll(async () => {
    [shop, stock] = await Promise.all([startShop(), startStock()]);
    gateway = await startGateway({ supergraphSdl: composeSupergraph([shop, stock]) });
  });
  afterEach(() => void (shop.fault = stock.fault = undefined));
  afterAll(async () => {
    await gateway.drain();
    await Promise.all([shop.close(), stock.close()]);
  });

  /** 100,000 levels overflow Node's stack in a recursive walk, and in JSON.stringify. */
  const levels = 100_000;
  const deepList = "[".repeat(levels) + "]".repeat(levels);
  const respondWithLeft: Fault = (response, { query }) => {
    // The gateway requests the key under an alias.
    const [, alias] = /(\w+):id\b/.exec(query) ?? [];
    respondJson(response, 200, `{"data":{"_entities":[{"${alias}":"1","left":7}]}}`);
  };
  const deepObject = `${'{"below":'.repeat(levels)}1${"}".repeat(levels)}`;

  const badAnswers = [
    {
      name: "a list where an object should be",
      field: "product",
      query: "{ product { id left } open }",
      expected: { product: null, open: true },
      codes: ["SUBGRAPH_INVALID_RESPONSE"],
    },
    {
      name: "an entry of a list",
      field: "products",
      query: "{ products { id left } open }",
      expected: { products: [null], open: true },
      codes: ["SUBGRAPH_INVALID_RESPONSE"],
    },
    {
      name: "a leaf",
      field: "open",
      query: "{ open }",
      expected: { open: null },
      codes: ["INVALID_FIELD_VALUE"],
    },
  ];

  test.each(badAnswers)("a list nested 100,000 deep in place of $name is null with an error", async (bad) => {
    shop.fault = (response) => respondJson(response, 200, `{"data":{"open":true,"${bad.field}":${deepList}}}`);
    const { status, body } = await gateway.send(bad.query);
    expect({ status, data: body.data }).toEqual({ status: 200, data: bad.expected });
    expect(codesOf(body)).toEqual(bad.codes);
  });

  test("objects in lists of lists are completed, and deeper lists than the type has are not searched", async () => {
    const product = '{"__typename":"Product","id":"1"}';
    shop.fault = (response) => respondJson(response, 200, `{"data":{"shelves":[[${product}],[],[${product}]]}}`);
    stock.fault = respondWithLeft;
    const good = await gateway.send("{ shelves { left } }");
    expect(good.body).toEqual({ data: { shelves: [[{ left: 7 }], [], [{ left: 7 }]] } });
    const sentBefore = stock.requests.length;
    shop.fault = (response) => respondJson(response, 200, `{"data":{"shelves":[[[${product}]]]}}`);
    const bad = await gateway.send("{ shelves { left } }");
    expect(bad.body).toMatchObject({ data: { shelves: null }, errors: [{ path: ["shelves", 0, 0] }] });
    expect(stock.requests.length).toBe(sentBefore);
  });

  test("a key nested 100,000 deep does not match, and siblings are complete", async () => {
    shop.fault = (response) => respondJson(response, 200, `{"data":{"open":true,"product":{"id":${deepList}}}}`);
    stock.fault = respondWithLeft;
    const { status, body } = await gateway.send("{ product { left } open }");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: { product: { left: null }, open: true },
      errors: [{ path: ["product", "left"] }],
    });
  });

  test("a required object nested 100,000 deep is an error, and siblings are complete", async () => {
    shop.fault = (response) =>
      respondJson(
        response,
        200,
        `{"data":{"open":true,"product":{"__typename":"Product","id":"1","box":${deepList}}}}`,
      );
    const { status, body } = await gateway.send("{ product { id fits box { litres } } open }");
    expect(status).toBe(200);
    expect(body.data).toEqual({ product: { id: "1", fits: null, box: null }, open: true });
    expect(codesOf(body)).toEqual(["FIELD_NOT_PROVIDED", "SUBGRAPH_INVALID_RESPONSE"]);
  });

  test("a list nested 100,000 deep is not searched for error paths when another fetch fails", async () => {
    shop.fault = (response) =>
      respondJson(response, 200, `{"data":{"products":[{"__typename":"Product","id":"1"},${deepList}]}}`);
    stock.fault = (response) => response.destroy();
    const { status, body } = await gateway.send("{ products { id left } }");
    expect(status).toBe(200);
    expect(body.data).toEqual({ products: [{ id: "1", left: null }, null] });
    expect(codesOf(body)).toEqual(["SUBGRAPH_UNAVAILABLE", "SUBGRAPH_INVALID_RESPONSE"]);
  });

  test.each([
    ["a list", deepList],
    ["an object", deepObject],
  ])("a custom scalar that is %s nested 100,000 deep is forwarded unchanged", async (_, value) => {
    shop.fault = (response) => respondJson(response, 200, `{"data":{"open":true,"about":${value}}}`);
    const { status, text } = await gateway.send("{ about open }");
    expect(status).toBe(200);
    expect(text === `{"data":{"about":${value},"open":true}}`).toBe(true);
  });

  test("a custom scalar nested 100,000 deep is sent to a subgraph that requires it", async () => {
    shop.fault = (response) =>
      respondJson(response, 200, `{"data":{"product":{"__typename":"Product","id":"1","notes":${deepList}}}}`);
    stock.fault = (response, { variables }) => {
      const [{ notes }] = variables["representations"] as [{ notes: unknown }];
      respondJson(response, 200, `{"data":{"_entities":[{"id":"1","noted":${Array.isArray(notes)}}]}}`);
    };
    const { body } = await gateway.send("{ product { noted } }");
    expect(body).toEqual({ data: { product: { noted: true } } });
  });

  test("if responses are merged, a value nested 100,000 deep makes only its field null", async () => {
    const size = (fields: string) => `{"data":{"best":{"__typename":"Product","id":"1",${fields}}}}`;
    shop.fault = (response) =>
      respondJson(response, 200, size(`"name":"Table","notes":${deepList},"size":{"grams":${deepList}}`));
    stock.fault = (response, { query }) => {
      const entity = `{"__typename":"Product","id":"1","left":1,"size":{"millimetres":${deepObject}}}`;
      if (query.includes("_entities")) respondJson(response, 200, `{"data":{"_entities":[${entity}]}}`);
      else respondJson(response, 200, `{"data":{"best":${entity}}}`);
    };
    const { status, body } = await gateway.send("{ best { name left size { grams millimetres } } }");
    expect(status).toBe(200);
    expect(body.data).toEqual({ best: { name: "Table", left: 1, size: { grams: null, millimetres: null } } });
    expect(codesOf(body)).toEqual(["INVALID_FIELD_VALUE", "INVALID_FIELD_VALUE"]);
  });

  test("an error with values nested 100,000 deep is reported like any other", async () => {
    const error = `{"message":"x","path":["open",${deepList}],"extensions":{"code":"BAD_USER_INPUT","problems":[${deepList}]}}`;
    shop.fault = (response) => respondJson(response, 200, `{"data":{"open":null},"errors":[${error}]}`);
    const { status, body } = await gateway.send("{ open }");
    expect(status).toBe(200);
    expect(codesOf(body)).toEqual(["BAD_USER_INPUT"]);
  });

  function codesOf({ errors = [] }: { errors?: { extensions: { code: string } }[] }): string[] {
    return errors.map(({ extensions }) => extensions.code);
  }

  function startShop(): Promise<RunningSubgraph> {
    return startSubgraph({
      name: "shop",
      typeDefs: `
      scalar JSON
      type Query { open: Boolean about: JSON product: Product products: [Product] shelves: [[Product!]!] best: Product @shareable }
      type Product @key(fields: "id") { id: ID! name: String notes: JSON size: Size @shareable box: Box }
      type Size @shareable { grams: Int }
      type Box { litres: Int }
    `,
      resolvers: {},
    });
  }

  function startStock(): Promise<RunningSubgraph> {
    return startSubgraph({
      name: "stock",
      typeDefs: `
      scalar JSON
      type Query { best: Product @shareable }
      type Product @key(fields: "id") {
        id: ID!
        notes: JSON @external
        noted: Boolean @requires(fields: "notes")
        left: Int
        box: Box @external
        fits: Boolean @requires(fields: "box { litres }")
        size: Size @shareable
      }
      type Size @shareable { millimetres: Int }
      type Box { litres: Int @external }
    `,
      resolvers: {},
    });
  }
});
