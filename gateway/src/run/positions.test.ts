import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { findPositions, joinRootAnswers, matchRepresentations } from "./positions.ts";

const schema = buildSchema(
  "type Query { a: Media } interface Media { id: ID } type Book implements Media { id: ID } type Film implements Media { id: ID }",
);
const objects = (...list: object[]) =>
  list.map((object, i) => ({ path: [i], object: object as Record<string, unknown> }));
const pathsOf = (representations: object[], positions: ReturnType<typeof objects>) =>
  matchRepresentations(representations as Record<string, unknown>[], positions, schema).map(
    (position) => position?.path[0],
  );

test("as many representations as objects stand in the same order", () => {
  expect(pathsOf([{ id: "9" }, { id: "8" }], objects({ id: "1" }, { id: "2" }))).toEqual([0, 1]);
});

test("objects without a key or of another type are passed over", () => {
  const positions = objects(
    { __typename: "Film", id: "1" },
    { __typename: "Book" },
    { __typename: "Book", id: "1" },
    { __typename: "Book", id: null },
    { __typename: "Book", id: "1" },
  );
  const book = (id: string | null) => ({ __typename: "Book", id });
  expect(pathsOf([book("1"), book(null), book("1")], positions)).toEqual([2, 3, 4]);
});

test("a representation may bear an interface's name", () => {
  const positions = objects(
    { __typename: "Unknown", id: "2" },
    { __typename: "Query", id: "1" },
    { __typename: "Film", id: "1" },
  );
  expect(pathsOf([{ __typename: "Media", id: "1" }], positions)).toEqual([2]);
});

test("nested keys are compared through and through", () => {
  const rep = (size: unknown) => ({ __typename: "Book", id: "1", required: { size, tags: ["a", { b: 1 }] } });
  const held = (size: unknown, tags: unknown) => ({
    __typename: "Book",
    id: "1",
    required: { size, tags, more: true },
  });
  const positions = objects(
    held(1, ["a"]),
    held(2, ["a", { b: 1 }]),
    held(1, ["a", { b: 2 }]),
    held(1, ["a", { b: 1 }]),
    {},
  );
  expect(pathsOf([rep(1)], positions)).toEqual([3]);
});

test("what is not found has no position, and neither has what follows", () => {
  expect(pathsOf([{ id: "7" }, { id: "1" }], objects({ id: "1" }, { id: "1" }, { id: "1" }))).toEqual([
    undefined,
    undefined,
  ]);
});

test("positions are told in the engine's order, nulls and missing fields left out", () => {
  const root = { lists: [[{ a: { id: 1 } }, null], null, [{ a: null }, {}, { a: { id: 2 } }]] };
  expect(
    findPositions(root, ["lists", "@", "@", "a"]).map(({ path, object }) => [path.join("."), object["id"]]),
  ).toEqual([
    ["lists.0.0.a", 1],
    ["lists.2.2.a", 2],
  ]);
  expect(findPositions({ list: "text" }, ["list", "@"])).toEqual([]);
});

test("root answers are joined as the engine joins them: the first object stays, nulls and other lengths are replaced", () => {
  const first = { a: { id: 1 }, b: null, c: [1, 2], d: [1], e: undefined, f: 1 };
  const second = { a: { id: 2 }, b: { id: 3 }, c: [3, 4], d: [1, 2], e: { id: 5 }, f: 2 };
  const root = joinRootAnswers([first, second]);
  expect(root["a"]).toBe(first.a);
  expect(root["c"]).toBe(first.c);
  expect({ ...root }).toMatchObject({ b: { id: 3 }, d: [1, 2], e: { id: 5 }, f: 2 });
});
