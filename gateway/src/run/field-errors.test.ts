import { expect, test } from "vitest";
import {
  type FieldAccess,
  type CompiledFetch,
  type ObjectLayout,
  noJoin,
  type ResponsePosition,
} from "../plan/compile/compiled-plan.ts";
import { createFieldErrorRecorder } from "./field-errors.ts";

type Json = Readonly<Record<string, unknown>>;

const ada = { id: "1" };
const grace = { id: "2" };
const anew = { id: "1" };
/** Two objects stand for one representation, one stands for none. */
const root = { a_posts: [{ author: ada }, { author: grace }, null, { author: anew }, { author: { id: null } }] };
const entities = fetch([["a_posts", "author"]]);
const indexes = new Map<object, number>([
  [ada, 0],
  [anew, 0],
  [grace, 1],
]);
const indexOf = (object: object) => indexes.get(object);
const reason = { kind: "fetch-failed", code: "SUBGRAPH_TIMEOUT" } as const;

test("what an entity lost is lost at every place that it stands for, under the client's names", () => {
  expect(pathsOf((losses) => losses.addAt(["_entities", 0, "name"], reason))).toEqual([
    ["posts", 0, "author", "name"],
    ["posts", 3, "author", "name"],
  ]);
});

test("below an entity the way goes on through its lists", () => {
  const path = ["_entities", 1, "friends", 2, "name"];
  expect(pathsOf((losses) => losses.addAt(path, reason))).toEqual([["posts", 1, "author", "friends", 2, "name"]]);
});

test("the planner's own names for colliding fields are not told", () => {
  expect(pathsOf((losses) => losses.addAt(["_entities", 1, "name__alias_0"], reason))).toEqual([
    ["posts", 1, "author", "name"],
  ]);
});

test("an entity that is lost whole loses each field that it was asked for", () => {
  expect(pathsOf((losses) => losses.addAt(["_entities", 1], reason))).toEqual([
    ["posts", 1, "author", "name"],
    ["posts", 1, "author", "mail"],
  ]);
});

test("where nothing of it was for the client the place itself is told", () => {
  const hidden = fetch([["a_posts", "author"]], []);
  expect(pathsOf((losses) => losses.addAt(["_entities", 1], reason), hidden)).toEqual([["posts", 1, "author"]]);
});

test.each([[undefined], [[]], [["_entities"]], [["_entities", "x"]], [["_entities", 2, "name"]], [["_entities", -1]]])(
  "%j says no more than where the fetch was for",
  (path) => {
    expect(pathsOf((losses) => losses.addAt(path, reason))).toEqual([["posts"]]);
  },
);

test("a fetch that failed loses what it was to bring, where it was asked", () => {
  expect(pathsOf((losses) => losses.addForAll(reason))).toEqual(
    [0, 1, 3].flatMap((i) => [
      ["posts", i, "author", "name"],
      ["posts", i, "author", "mail"],
    ]),
  );
});

test("a fetch of root fields loses them at the root", () => {
  const rootFetch = fetch([[]]);
  const losses = createFieldErrorRecorder(rootFetch, { root, position, joins: [] }, undefined);
  losses.addForAll(reason);
  losses.addAt(["a_posts", 0, "author"], reason);
  losses.addAt([], reason);
  expect(losses.finish().map(({ path }) => path)).toEqual([["name"], ["mail"], ["posts", 0, "author"], undefined]);
});

test("of many losses a hundred are told, and how many there are more", () => {
  const losses = recorder(entities);
  for (let i = 0; i < 120; i++) losses.addAt(["_entities", 1, "name"], reason);
  const told = losses.finish();
  expect(told).toHaveLength(101);
  expect(told.at(-1)).toEqual({ service: "users", path: ["posts"], reason, moreCount: 20 });
});

test("an entity at several places of a plan is lost at all of them", () => {
  const two = fetch([["a_posts", "author"], ["best"]]);
  const tree = { root: { ...root, best: grace }, position, joins: [] };
  const losses = createFieldErrorRecorder(two, tree, { text: "", count: 2, indexOf, examples: [] });
  losses.addAt(["_entities", 1, "name"], reason);
  expect(losses.finish().map(({ path }) => path)).toEqual([
    ["posts", 1, "author", "name"],
    ["best", "name"],
  ]);
});

function pathsOf(lose: (losses: ReturnType<typeof recorder>) => void, about = entities) {
  const losses = recorder(about);
  lose(losses);
  return losses.finish().map(({ path }) => path);
}

function recorder(about: CompiledFetch) {
  return createFieldErrorRecorder(about, { root, position, joins: [] }, { text: "", count: 2, indexOf, examples: [] });
}

/** What is lost of a fetch that was to bring these fields for the client. */
function fetch(paths: readonly (readonly string[])[], names: readonly string[] = ["name", "mail"]): CompiledFetch {
  return { service: "users", paths, names } as unknown as CompiledFetch;
}

/** Every field is an object's own; a planner key that begins with a_ is the client's without it. */
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
