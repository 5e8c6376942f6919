import { expect, test } from "vitest";
import {
  type FieldAccess,
  type CompiledFetch,
  type ObjectLayout,
  noJoin,
  type ResponsePosition,
} from "../plan/compile/compiled-plan.ts";
import { createFieldErrorRecorder, type FieldErrorRecorder } from "./field-errors.ts";

type Json = Readonly<Record<string, unknown>>;

const ada = { id: "1" };
const grace = { id: "2" };
const anew = { id: "1" };
/** Two objects share a representation, and one has none. */
const root = { a_posts: [{ author: ada }, { author: grace }, null, { author: anew }, { author: { id: null } }] };
const entities = fetch([["a_posts", "author"]]);
const indexes = new Map<object, number>([
  [ada, 0],
  [anew, 0],
  [grace, 1],
]);
const indexOf = (object: object) => indexes.get(object);
const reason = { kind: "fetch-failed", code: "SUBGRAPH_TIMEOUT" } as const;

test("an error in an entity is an error at every object with its representation, in the client's names", () => {
  expect(pathsOf((recorder) => recorder.addAt(["_entities", 0, "name"], reason))).toEqual([
    ["posts", 0, "author", "name"],
    ["posts", 3, "author", "name"],
  ]);
});

test("a path below an entity continues through its lists", () => {
  const path = ["_entities", 1, "friends", 2, "name"];
  expect(pathsOf((recorder) => recorder.addAt(path, reason))).toEqual([["posts", 1, "author", "friends", 2, "name"]]);
});

test("the planner's aliases for colliding fields are not in the path", () => {
  expect(pathsOf((recorder) => recorder.addAt(["_entities", 1, "name__alias_0"], reason))).toEqual([
    ["posts", 1, "author", "name"],
  ]);
});

test("an entity that is missing as a whole has an error for each of its fields", () => {
  expect(pathsOf((recorder) => recorder.addAt(["_entities", 1], reason))).toEqual([
    ["posts", 1, "author", "name"],
    ["posts", 1, "author", "mail"],
  ]);
});

test("if no field of it was the client's the error is at the object", () => {
  const hidden = fetch([["a_posts", "author"]], []);
  expect(pathsOf((recorder) => recorder.addAt(["_entities", 1], reason), hidden)).toEqual([["posts", 1, "author"]]);
});

test.each([[undefined], [[]], [["_entities"]], [["_entities", "x"]], [["_entities", 2, "name"]], [["_entities", -1]]])(
  "the path %j is replaced by the path of the fetch",
  (path) => {
    expect(pathsOf((recorder) => recorder.addAt(path, reason))).toEqual([["posts"]]);
  },
);

test("a failed fetch has an error for each of its fields", () => {
  expect(pathsOf((recorder) => recorder.addForAll(reason))).toEqual(
    [0, 1, 3].flatMap((i) => [
      ["posts", i, "author", "name"],
      ["posts", i, "author", "mail"],
    ]),
  );
});

test("the errors of a fetch of root fields are at the root", () => {
  const rootFetch = fetch([[]]);
  const recorder = createFieldErrorRecorder(rootFetch, { root, position, joins: [] }, undefined);
  recorder.addForAll(reason);
  recorder.addAt(["a_posts", 0, "author"], reason);
  recorder.addAt([], reason);
  expect(recorder.finish().map(({ path }) => path)).toEqual([["name"], ["mail"], ["posts", 0, "author"], undefined]);
});

test("of many errors a hundred are listed, and the number of the others", () => {
  const recorder = createRecorder(entities);
  for (let i = 0; i < 120; i++) recorder.addAt(["_entities", 1, "name"], reason);
  const errors = recorder.finish();
  expect(errors).toHaveLength(101);
  expect(errors.at(-1)).toEqual({ service: "users", path: ["posts"], reason, moreCount: 20 });
});

test("an entity at several paths of a plan has an error at each of them", () => {
  const two = fetch([["a_posts", "author"], ["best"]]);
  const tree = { root: { ...root, best: grace }, position, joins: [] };
  const recorder = createFieldErrorRecorder(two, tree, { text: "", count: 2, indexOf, firstObjects: [] });
  recorder.addAt(["_entities", 1, "name"], reason);
  expect(recorder.finish().map(({ path }) => path)).toEqual([
    ["posts", 1, "author", "name"],
    ["best", "name"],
  ]);
});

function pathsOf(record: (recorder: FieldErrorRecorder) => void, about = entities) {
  const recorder = createRecorder(about);
  record(recorder);
  return recorder.finish().map(({ path }) => path);
}

function createRecorder(about: CompiledFetch) {
  return createFieldErrorRecorder(
    about,
    { root, position, joins: [] },
    { text: "", count: 2, indexOf, firstObjects: [] },
  );
}

/** The errors of a fetch for these fields of the client. */
function fetch(paths: readonly (readonly string[])[], names: readonly string[] = ["name", "mail"]): CompiledFetch {
  return { service: "users", paths, names } as unknown as CompiledFetch;
}

/** Every field is read from the object itself; the client's name is the planner key without the prefix a_. */
const position: ResponsePosition = {
  listDepth: 1,
  layoutOf: () =>
    ({
      typename: "Any",
      access: (key: string): FieldAccess => ({
        read: (object: Json) => object[key],
        plainKey: key,
        joinIndex: noJoin,
        service: undefined,
        position,
      }),
      responseNamesFrom: (about: CompiledFetch & { readonly names?: readonly string[] }) => about.names ?? [],
    }) as unknown as ObjectLayout,
  toClientPath: (steps) => steps.map((step) => (typeof step === "string" ? step.replace(/^a_/, "") : step)),
};
