import { buildSchema, type GraphQLCompositeType, isCompositeType, Kind, parse, type SelectionSetNode } from "graphql";
import { expect, test } from "vitest";
import { type CompiledFetch, type Joins, ownSlot, type Position } from "./compiled-plan.ts";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { createRootPosition } from "./positions.ts";
import { createSupergraphTypes } from "./supergraph-types.ts";

const schema = buildSchema(`
  type Query { user: User media: [Media] anything: Thing }
  type User { id: ID! name: String friend: User toString: String }
  interface Media { id: ID! score: Int }
  type Book implements Media { id: ID! score: Int pages: Int }
  type Film implements Media { id: ID! score: Int minutes: Int }
  union Thing = User | Book
`);

test("an object's type is the only one that can be there, whether it says so or not", () => {
  const { below } = setUp("{ user { name } }", [fetch("{ user { name } }")]);
  const user = below("user");
  expect(user.layoutOf({ name: "Ada" }, [])?.typename).toBe("User");
  expect(user.layoutOf({ __typename: "User" }, [])?.typename).toBe("User");
  expect(user.layoutOf({ __typename: "Book" }, [])).toBeUndefined();
});

test("objects of one type have one layout", () => {
  const { below } = setUp("{ media { id } }", [fetch("{ media { __typename id } }")]);
  const media = below("media");
  const [one, other] = [media.layoutOf({ __typename: "Book" }, []), media.layoutOf({ __typename: "Book" }, [])];
  expect(one).toBe(other);
  expect(media.layoutOf({ __typename: "Film" }, [])).not.toBe(one);
});

test.each([["User"], ["NoSuchType"], [7], [null], ["constructor"]])("%j can be no medium", (typename) => {
  const { below } = setUp("{ media { id } }", [fetch("{ media { __typename id } }")]);
  expect(below("media").layoutOf({ __typename: typename }, [])).toBeUndefined();
});

test("a subgraph that knows the interface only is overruled by one that knows the type", () => {
  const entities = fetch("{ __typename score }", ["media"]);
  const { below } = setUp("{ media { id score } }", [fetch("{ media { __typename id } }"), entities]);
  const medium = { __typename: "Media", id: "1" };
  expect(below("media").layoutOf(medium, [])?.typename).toBe("Media");
  const joins: Joins = [undefined, { find: (object) => (object === medium ? { __typename: "Film" } : undefined) }];
  expect(below("media").layoutOf(medium, joins)?.typename).toBe("Film");
  const vague: Joins = [undefined, { find: () => ({ __typename: "Media" }) }];
  expect(below("media").layoutOf({ __typename: "Film" }, vague)?.typename).toBe("Film");
});

test("a layout has the client's fields for its type, in the client's order", () => {
  const query = "{ media { ... on Film { minutes } b: score ... on Book { pages } id } }";
  const { below } = setUp(query, [fetch("{ media { __typename } }")]);
  const names = (__typename: string) =>
    below("media")
      .layoutOf({ __typename }, [])
      ?.fields.map((one) => one.responseName);
  expect(names("Book")).toEqual(["b", "pages", "id"]);
  expect(names("Film")).toEqual(["minutes", "b", "id"]);
});

test("an object's own fields are read from it, joined ones from their fetch, others not at all", () => {
  const joined = fetch("{ name }", ["user"]);
  const { below } = setUp("{ user { id name friend { id } } }", [fetch("{ user { id } }"), joined]);
  const ada = { id: "1" };
  const joins: Joins = [undefined, { find: (object) => (object === ada ? { name: "Ada" } : undefined) }];
  const layout = below("user").layoutOf(ada, joins);
  expect(layout?.access("id")).toMatchObject({ slot: ownSlot, service: "s0" });
  expect(layout?.access("id")?.read(ada, joins)).toBe("1");
  expect(layout?.access("name")).toMatchObject({ slot: 1, service: "s1" });
  expect(layout?.access("name")?.read(ada, joins)).toBe("Ada");
  expect(layout?.access("name")?.read({ id: "2" }, joins)).toBeUndefined();
  expect(layout?.access("friend")).toBeUndefined();
  expect(layout?.namesFrom(joined)).toEqual(["name"]);
});

test("what an object inherits is no field of it", () => {
  const { below } = setUp("{ user { toString } }", [fetch("{ user { toString } }")]);
  const access = below("user").layoutOf({}, [])?.access("toString");
  expect(access?.read({}, [])).toBeUndefined();
  expect(access?.read({ toString: "Ada" }, [])).toBe("Ada");
});

test("what two fetches bring is read from the second when the first has none", () => {
  const fetches = [fetch("{ user { id } }"), fetch("{ name }", ["user"]), fetch("{ name }", ["user"])];
  const { below } = setUp("{ user { name } }", fetches);
  const joins: Joins = [undefined, undefined, { find: () => ({ name: "Ada" }) }];
  expect(below("user").layoutOf({}, joins)?.access("name")?.read({}, joins)).toBe("Ada");
});

test("paths are told in the client's names, and cut before what clients do not see", () => {
  const { root } = setUp("{ user { friend { name } } }", [fetch("{ user { id friend { name } } }")]);
  expect(root.toClientPath(["user", "friend", "name"])).toEqual(["user", "friend", "name"]);
  expect(root.toClientPath(["user", "id"])).toEqual(["user"]);
  expect(root.toClientPath(["media", 0])).toEqual([]);
  expect(root.toClientPath(["user", -1, "friend"])).toEqual(["user"]);
});

test("members of a union have their own fields", () => {
  const { below } = setUp("{ anything { ... on User { name } ... on Book { pages } } }", [
    fetch("{ anything { __typename ... on User { name } ... on Book { pages } } }"),
  ]);
  const layoutOf = (__typename: string) => below("anything").layoutOf({ __typename }, []);
  expect(layoutOf("User")?.access("pages")).toBeUndefined();
  expect(layoutOf("Book")?.access("pages")?.read({ pages: 7 }, [])).toBe(7);
  expect(layoutOf("Film")).toBeUndefined();
});

/** `below` is the position of a root field. */
function setUp(query: string, fetches: readonly CompiledFetch[]) {
  const position = createRootPosition(
    {
      types: createSupergraphTypes(schema),
      findVisibleType: (name) => schema.getType(name),
      fetches: fetches.map((one, slot) => Object.assign(one, { slot, service: `s${slot}` })),
      isMerged: false,
      clientKeyOf: responseNameOf,
      fetchKeyOf: responseNameOf,
      introspection: undefined,
      retain: () => {},
    },
    typeOf("Query"),
    [selectionSetOf(query)],
  );
  return { root: position, below: (key: string) => below(position, key) };
}

function below(root: Position, key: string): Position {
  // A fetch of root fields brings the same data for every object.
  const position = root.layoutOf({}, [{ find: () => ({}) }])?.access(key)?.position;
  if (!position) throw new Error(`No objects stand at ${key}`);
  return position;
}

/** What positions read of a fetch. */
function fetch(selected: string, path: readonly string[] = []): CompiledFetch {
  return { paths: [path], selected: selectionSetOf(selected) } as unknown as CompiledFetch;
}

function selectionSetOf(text: string): SelectionSetNode {
  const [operation] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("One operation");
  return operation.selectionSet;
}

function typeOf(name: string): GraphQLCompositeType {
  const type = schema.getType(name);
  if (!isCompositeType(type)) throw new Error(`No objects are of ${name}`);
  return type;
}
