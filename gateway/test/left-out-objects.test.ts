import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import {
  composeSupergraph,
  type Fault,
  respondJson,
  type RunningSubgraph,
  startSubgraph,
} from "./helpers/subgraphs.ts";

// `f` and `area` of a kid need fields of two other subgraphs. A subgraph that omits such a field must not lose a field of the client in silence.
const ada = { __typename: "Kid", id: "1", p: 1, dim: { w: 2, h: 3 } };
const grace = { __typename: "Kid", id: "2", p: 2, dim: { w: 4, h: 5 } };

let kids: RunningSubgraph;
let serials: RunningSubgraph;
let extras: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  kids = await startSubgraph({
    name: "kids",
    typeDefs: `
      type Query { kids: [Kid!] }
      type Kid @key(fields: "id") { id: ID! p: Int dim: Dim }
      type Dim { w: Int h: Int }
    `,
    resolvers: { Query: { kids: () => [ada, grace] } },
  });
  serials = await startSubgraph({
    name: "serials",
    typeDefs: `type Kid @key(fields: "id") { id: ID! serial: Int }`,
    resolvers: { Kid: { __resolveReference: ({ id }: { id: string }) => ({ id, serial: Number(id) * 100 }) } },
  });
  extras = await startSubgraph({
    name: "extras",
    typeDefs: `
      type Kid @key(fields: "id") {
        id: ID! p: Int @external dim: Dim @external serial: Int @external
        f: String @requires(fields: "p") area: Int @requires(fields: "dim { w h }") label: String @requires(fields: "serial")
        must: String! @requires(fields: "p")
      }
      type Dim { w: Int @external h: Int @external }
    `,
    resolvers: {
      Kid: {
        f: ({ p }: { p: number }) => `f${p}`,
        area: ({ dim }: { dim: { w: number; h: number } | null }) => dim && dim.w * dim.h,
        label: ({ serial }: { serial: number }) => `no ${serial}`,
        must: ({ p }: { p: number }) => `must ${p}`,
      },
    },
  });
  gateway = await startGateway({ supergraphSdl: composeSupergraph([kids, serials, extras]) });
});
afterAll(async () => {
  await gateway.drain();
  await Promise.all([kids, serials, extras].map((subgraph) => subgraph.close()));
});
beforeEach(() => {
  for (const subgraph of [kids, serials, extras]) subgraph.fault = undefined;
});

const respondWith =
  (data: object, errors?: readonly object[]): Fault =>
  (response) =>
    respondJson(response, 200, JSON.stringify({ data, errors }));

const notProvided = { message: "No service provides this field here.", extensions: { code: "FIELD_NOT_PROVIDED" } };

test("a field whose required field is absent is an error with its path, and other objects have it", async () => {
  kids.fault = respondWith({ kids: [{ __typename: "Kid", id: "1" }, grace] });
  const { body } = await gateway.send("{ kids { f } }");
  expect(body).toEqual({
    errors: [{ ...notProvided, path: ["kids", 0, "f"] }],
    data: { kids: [{ f: null }, { f: "f2" }] },
  });
});

test("so is it if no object has the required field: the fetch is not sent", async () => {
  kids.fault = respondWith({ kids: [{ __typename: "Kid", id: "1" }] });
  const { body } = await gateway.send("{ kids { id f } }");
  expect(body).toEqual({
    errors: [{ ...notProvided, path: ["kids", 0, "f"] }],
    data: { kids: [{ id: "1", f: null }] },
  });
});

test("an object within a representation is not sent without one of its required fields", async () => {
  kids.fault = respondWith({ kids: [{ ...ada, dim: { w: 2 } }, grace, { ...ada, id: "3", dim: null }] });
  const { body } = await gateway.send("{ kids { area } }");
  expect(body).toEqual({
    errors: [{ ...notProvided, path: ["kids", 0, "area"] }],
    data: { kids: [{ area: null }, { area: 20 }, { area: null }] },
  });
});

test("a required field that an entity fetch has not returned is an error", async () => {
  serials.fault = respondWith({
    _entities: [
      { __typename: "Kid", id: "1" },
      { __typename: "Kid", id: "2", serial: 7 },
    ],
  });
  const { body } = await gateway.send("{ kids { label } }");
  expect(body).toEqual({
    errors: [{ ...notProvided, path: ["kids", 0, "label"] }],
    data: { kids: [{ label: null }, { label: "no 7" }] },
  });
});

test("a field that requires a field of an entity that does not exist is null without an error", async () => {
  serials.fault = respondWith({ _entities: [null, { __typename: "Kid", id: "2", serial: 7 }] });
  const { body } = await gateway.send("{ kids { label } }");
  expect(body).toEqual({ data: { kids: [{ label: null }, { label: "no 7" }] } });
});

test("if the fetch of the required field fails, its error is the one of all fields that are missing", async () => {
  serials.fault = respondWith({ _entities: [null, null] }, [{ message: "x", path: ["_entities", 0] }]);
  const extensions = { code: "SUBGRAPH_ERROR", service: "serials" };
  for (const [query, names] of [
    ["{ kids { label } }", ["label"]],
    ["{ kids { serial no: label f } }", ["serial", "no"]],
  ] as const) {
    const { body } = await gateway.send(query);
    expect(body.data.kids[0]).toMatchObject(Object.fromEntries(names.map((name) => [name, null])));
    expect(body.errors).toMatchObject(names.map((name) => ({ path: ["kids", 0, name], extensions })));
  }
  const { body } = await gateway.send("{ kids { y: label } others: kids { serial y: p } }");
  expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ["kids", 0, "y"],
    ["others", 0, "serial"],
  ]);
});

test("a field that was not requested is an error also if the fetch for other objects fails", async () => {
  kids.fault = respondWith({ kids: [{ __typename: "Kid", id: "1" }, grace] });
  extras.fault = (response) => void response.destroy();
  const { body } = await gateway.send("{ kids { f } }");
  expect(body.data).toEqual({ kids: [{ f: null }, { f: null }] });
  expect(body.errors).toMatchObject([
    { path: ["kids", 1, "f"], extensions: { code: "SUBGRAPH_UNAVAILABLE", service: "extras" } },
    { ...notProvided, path: ["kids", 0, "f"] },
  ]);
});

test("a failed fetch is no error of __typename, which is known", async () => {
  extras.fault = (response) => void response.destroy();
  const { body } = await gateway.send("{ kids { f x: __typename __typename } }");
  expect(body.data.kids).toEqual([1, 2].map(() => ({ f: null, x: "Kid", __typename: "Kid" })));
  expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([0, 1].map((index) => ["kids", index, "f"]));
});

test("a non-null field that was not requested makes its object null", async () => {
  kids.fault = respondWith({ kids: [{ __typename: "Kid", id: "1" }, grace] });
  const { body } = await gateway.send("{ kids { must } }");
  expect(body).toEqual({ errors: [{ ...notProvided, path: ["kids", 0, "must"] }], data: { kids: null } });
});
