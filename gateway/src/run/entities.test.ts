import { expect, test } from "vitest";
import { type FieldAccess, type CompiledFetch, type ObjectLayout, noJoin } from "../plan/compile/compiled-plan.ts";
import { readEntities } from "./entities.ts";

const ada = { __typename: "User", id: "1" };
const grace = { __typename: "User", id: "2" };

test("entities are in the order of their representations, and null is a missing entity", () => {
  expect(read([{ id: "1", name: "Ada" }, null])).toEqual({
    entities: [{ id: "1", name: "Ada" }, undefined],
    refused: [],
  });
});

test.each([
  ["short", [{ id: "1" }]],
  ["long", [{ id: "1" }, { id: "2" }, { id: "3" }]],
  ["a text", "Ada"],
  ["an object", { 0: {}, 1: {}, length: 2 }],
  ["missing", undefined],
])("a list that is %s is rejected as a whole", (_, list) => {
  expect(read(list).entities).toBeUndefined();
});

test("an entity with another key is rejected, and the next one is not", () => {
  expect(read([{ id: "2" }, { id: "2" }])).toEqual({ entities: [undefined, { id: "2" }], refused: [0] });
});

test("entities in another order are all rejected", () => {
  expect(read([{ id: "2" }, { id: "1" }]).refused).toEqual([0, 1]);
});

test("a key that was sent as a string may be returned as a number, but not as an object", () => {
  expect(read([{ id: 1 }, { id: "2" }]).refused).toEqual([]);
  expect(read([{ id: ["1"] }, { id: { toString: "2" } }]).refused).toEqual([0, 1]);
});

test.each([
  ["letter case", "Ann@X.org", "ann@x.org"],
  ["outer white space", "Ann@X.org", " Ann@X.org\n"],
])("a string key may differ in %s, an exact key may not", (_, requested, returned) => {
  const entities = [{ id: returned }, null];
  expect(read(entities, { requested, isExact: false }).refused).toEqual([]);
  expect(read(entities, { requested, isExact: true }).refused).toEqual([0]);
});

test("a string key that differs in more than letter case and outer white space is rejected", () => {
  const entities = [{ id: "bob@x.org" }, { id: "a b" }];
  expect(read(entities, { requested: "ab", isExact: false }).refused).toEqual([0, 1]);
});

test("an entity without its key, or with a null key, is accepted", () => {
  expect(read([{ name: "Ada" }, { id: null }]).refused).toEqual([]);
});

test("__typename may be the requested type or one that the plan accepts for it, and no other", () => {
  expect(read([{ __typename: "User" }, { __typename: "Admin" }]).refused).toEqual([]);
  expect(read([{ __typename: "Post" }, { __typename: 7 }]).refused).toEqual([0, 1]);
});

test.each([
  ["a list", []],
  ["a text", "Ada"],
  ["a number", 0],
  ["undefined", undefined],
])("%s is rejected as an entity", (_, entity) => {
  expect(read([entity, { id: "2" }])).toEqual({ entities: [undefined, { id: "2" }], refused: [0] });
});

function read(list: unknown, { requested = "1", isExact = true } = {}) {
  const refused: number[] = [];
  const layout = { typename: "User" } as ObjectLayout;
  const read = (object: object) => (object as typeof ada).id;
  const id: FieldAccess = { read, plainKey: "id", joinIndex: noJoin, service: "users", position: undefined };
  const fetch: Pick<CompiledFetch, "keyChecks" | "acceptsEntity"> = {
    keyChecks: () => [{ responseName: "id", isExact, access: id }],
    acceptsEntity: (_, typename) => typename === "Admin",
  };
  const firstObjects = [{ ...ada, id: requested }, grace].map((object) => ({ object, layout }));
  const representations = { text: "", count: 2, indexOf: () => undefined, firstObjects };
  const data = list === undefined ? {} : { _entities: list };
  const entities = readEntities(fetch as CompiledFetch, representations, data, [], (index) => void refused.push(index));
  return { entities, refused };
}
