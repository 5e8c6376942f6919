import { readMember } from "@tributary/kit/json/json-span";
import { describe, expect, test } from "vitest";
import {
  type CompiledFetch,
  type FieldAccess,
  type ObjectLayout,
  type RepresentationField,
  type RepresentationPlan,
  type ResponsePosition,
  noJoin,
} from "../plan/compile/compiled-plan.ts";
import { readEntities } from "./entities.ts";
import { writeRepresentations } from "./representations.ts";
import { toSpans } from "./testing/spans.ts";

describe("representations", () => {
  type Json = Readonly<Record<string, unknown>>;

  test("a key value is sent once for all objects that have it", () => {
    const users = [{ id: "1" }, { id: "2" }, { id: "1" }];
    const { sent, indexes, count } = write(users, [leaf("id")]);
    expect(sent).toEqual([
      { __typename: "User", id: "1" },
      { __typename: "User", id: "2" },
    ]);
    expect(indexes).toEqual([0, 1, 0]);
    expect(count).toBe(2);
  });

  test("values of different types are sent separately", () => {
    const values = [1, "1", null, "null", true, "true", 0, "", false];
    const { sent } = write(
      values.map((id) => ({ id })),
      [leaf("id")],
    );
    expect(sent.map(({ id }) => id)).toEqual(values);
  });

  test("an object without a key value is not sent, and one with a null key is", () => {
    const { sent, indexes } = write([{ name: "Ada" }, { id: null }], [leaf("id")]);
    expect(sent).toEqual([{ __typename: "User", id: null }]);
    expect(indexes).toEqual([undefined, 0]);
  });

  test("a span is sent and compared as its string", () => {
    const { sent, indexes } = write([toSpans({ id: "é" }), { id: "é" }, toSpans({ id: "e" })], [leaf("id")]);
    expect(sent.map(({ id }) => id)).toEqual(["é", "e"]);
    expect(indexes).toEqual([0, 0, 1]);
  });

  test("several key values are compared separately", () => {
    const users = [
      { hall: "a", row: "bc" },
      { hall: "ab", row: "c" },
      { hall: "a", row: "bc" },
    ];
    expect(write(users, [leaf("hall"), leaf("row")]).indexes).toEqual([0, 1, 0]);
  });

  test("nested keys are compared by the fields that are sent, in any order", () => {
    const users = [
      { organization: { id: "1", title: "Mill" } },
      { organization: { title: "Other", id: "1" } },
      { organization: { id: 1 } },
      { organization: null },
    ];
    const { sent, indexes } = write(users, [object("organization", [leaf("id")])]);
    expect(sent).toEqual([
      { __typename: "User", organization: { id: "1" } },
      { __typename: "User", organization: { id: 1 } },
      { __typename: "User", organization: null },
    ]);
    expect(indexes).toEqual([0, 0, 1, 2]);
  });

  test("an object whose nested key is missing is not sent", () => {
    const { sent, count } = write([{ organization: {} }], [object("organization", [leaf("id")])]);
    expect(sent).toEqual([]);
    expect(count).toBe(0);
  });

  test("lists within a representation keep their nulls and their order", () => {
    const users = [{ tags: [{ id: "2" }, null, { id: "1" }] }, { tags: [] }];
    const { sent } = write(users, [object("tags", [leaf("id")])]);
    expect(sent.map(({ tags }) => tags)).toEqual([[{ id: "2" }, null, { id: "1" }], []]);
  });

  test("a scalar that is an object is compared and sent as JSON", () => {
    const users = [{ at: { x: 1 } }, { at: { x: 1 } }, { at: '{"x":1}' }];
    const { sent, indexes } = write(users, [leaf("at")]);
    expect(sent.map(({ at }) => at)).toEqual([{ x: 1 }, '{"x":1}']);
    expect(indexes).toEqual([0, 0, 1]);
  });

  test("objects of two types with the same key are sent separately", () => {
    const users = [
      { __typename: "User", id: "1" },
      { __typename: "Admin", id: "1" },
    ];
    const { sent, indexes } = write(users, [leaf("id")]);
    expect(sent).toEqual(users);
    expect(indexes).toEqual([0, 1]);
  });

  test("objects in lists of lists are sent, but none from lists deeper than the type, and no other values", () => {
    const one = { id: "1" };
    const { sent } = write([[one, null], [[{ id: "2" }]], [[[{ id: "3" }]]], "text", 7] as never, [leaf("id")]);
    expect(sent.map(({ id }) => id)).toEqual(["1", "2"]);
  });

  test.each([
    ["that are of two types", [{ id: "1" }, { __typename: "Admin", id: "1" }]],
    ["whose key is an object", [{ id: "1" }, { id: { x: 1 } }]],
  ])("objects with one key %s are identified as objects", (_, users) => {
    expect(write(users, [leaf("id")]).indexes).toEqual([0, 1]);
  });

  test("objects of a type that the fetch does not need have no representation, even with the key of another object", () => {
    const users = [{ id: "1" }, { __typename: "Guest", id: "1" }];
    expect(write(users, [leaf("id")]).indexes).toEqual([0, undefined]);
  });

  /** The text, and for each user the index of its representation. Both are the same for objects found by key and by identity. */
  function write(users: readonly Json[], fields: readonly RepresentationField[]) {
    const [field] = fields;
    const hasSingleKey = fields.length === 1 && field?.value.kind === "leaf";
    const byObject = writeWith(users, fields, () => undefined);
    const byKey = writeWith(users, fields, ({ typename }) =>
      hasSingleKey && typename !== "Guest"
        ? {
            key: String(JSON.parse(field.text.slice(0, -1))),
            textBefore: `{"__typename":"${typename}",${field.text}`,
            textAfter: "}",
          }
        : undefined,
    );
    expect(byKey).toEqual(byObject);
    return byKey;
  }

  function writeWith(
    users: readonly Json[],
    fields: readonly RepresentationField[],
    singleKeyOf: RepresentationPlan["singleKeyOf"],
  ) {
    const fieldsOf = ({ typename }: ObjectLayout) =>
      typename === "Guest"
        ? undefined
        : [{ text: `"__typename":"${typename}"`, value: { kind: "constant" } } as const, ...fields];
    const tree = { root: { users }, position, dataJoins: [] };
    const plan = { variable: "representations", entitiesKey: "_entities", group: 0, fieldsOf, singleKeyOf };
    const { text, textOf, indexOf, count } = writeRepresentations(tree, [[{ key: "users", types: undefined }]], plan);
    expect(Array.from({ length: count }, (_, index) => textOf(index)).join()).toBe(text);
    const sent = JSON.parse(`[${text}]`) as readonly Json[];
    return { sent, count, indexes: users.map((user) => indexOf(user)) };
  }

  /** Every field is read from the object itself. */
  const position: ResponsePosition = {
    listDepth: 3,
    layoutOf: ({ __typename: typename = "User" }) => ({ typename: String(typename), access: own }) as ObjectLayout,
    toClientPath: (steps) => steps,
  };

  function own(key: string): FieldAccess {
    return {
      read: (object) => readMember(object, key),
      plainKey: key,
      joinIndex: noJoin,
      service: undefined,
      position,
    };
  }

  function leaf(name: string): RepresentationField {
    return { text: `"${name}":`, value: { kind: "leaf", access: own(name) } };
  }

  function object(name: string, fields: readonly RepresentationField[]): RepresentationField {
    return { text: `"${name}":`, value: { kind: "object", access: own(name), fieldsOf: () => fields } };
  }
});

describe("entities", () => {
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

  test("a key that is a span is compared as its string", () => {
    expect(read([toSpans({ id: "1" }), toSpans({ id: "3" })]).refused).toEqual([1]);
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
    const layout = { typename: "User" } as ObjectLayout;
    const read = (object: object) => (object as typeof ada).id;
    const id: FieldAccess = { read, plainKey: "id", joinIndex: noJoin, service: "users", position: undefined };
    const fetch: Pick<CompiledFetch, "keyChecks" | "acceptsEntity"> = {
      keyChecks: () => [{ responseName: "id", isExact, access: id }],
      acceptsEntity: (_, typename) => typename === "Admin",
    };
    const firstObjects = [{ ...ada, id: requested }, grace].map((object) => ({ object, layout }));
    const representations = {
      text: "",
      count: 2,
      textOf: () => "",
      indexOf: () => undefined,
      firstObjects,
      leftOut: undefined,
    };
    const data = list === undefined ? {} : { _entities: list };
    const checked = { fetch: fetch as CompiledFetch, addedKeys: new Map<string, string>() };
    const { entities, rejected: refused = [] } = readEntities(checked, representations, data, []) ?? {};
    return { entities, refused };
  }
});
