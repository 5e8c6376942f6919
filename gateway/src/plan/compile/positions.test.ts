import { buildSchema, type GraphQLCompositeType, isCompositeType, Kind, parse, type SelectionSetNode } from "graphql";
import { expect, test } from "vitest";
import { type CompiledFetch, type Joins, noJoin, type ResponsePosition } from "./compiled-plan.ts";
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

test("where one type is possible, an object has that type with or without a __typename", () => {
  const { below } = setUp("{ user { name } }", [fetch("{ user { name } }")]);
  const user = below("user");
  expect(user.layoutOf({ name: "Ada" }, [])?.typename).toBe("User");
  expect(user.layoutOf({ __typename: "User" }, [])?.typename).toBe("User");
  expect(user.layoutOf({ __typename: "Book" }, [])).toBeUndefined();
});

test("objects of one type share a layout", () => {
  const { below } = setUp("{ media { id } }", [fetch("{ media { __typename id } }")]);
  const media = below("media");
  const [one, other] = [media.layoutOf({ __typename: "Book" }, []), media.layoutOf({ __typename: "Book" }, [])];
  expect(one).toBe(other);
  expect(media.layoutOf({ __typename: "Film" }, [])).not.toBe(one);
});

test.each([["User"], ["NoSuchType"], [7], [null], ["constructor"]])("%j is no possible type", (typename) => {
  const { below } = setUp("{ media { id } }", [fetch("{ media { __typename id } }")]);
  expect(below("media").layoutOf({ __typename: typename }, [])).toBeUndefined();
});

test("the name of an object type takes precedence over the interface's name from an interface object", () => {
  const entities = fetch("{ __typename score }", ["media"]);
  const { below } = setUp("{ media { id score } }", [fetch("{ media { __typename id } }"), entities]);
  const medium = { __typename: "Media", id: "1" };
  expect(below("media").layoutOf(medium, [])?.typename).toBe("Media");
  const joins: Joins = [undefined, { find: (object) => (object === medium ? { __typename: "Film" } : undefined) }];
  expect(below("media").layoutOf(medium, joins)?.typename).toBe("Film");
  const interfaceOnly: Joins = [undefined, { find: () => ({ __typename: "Media" }) }];
  expect(below("media").layoutOf({ __typename: "Film" }, interfaceOnly)?.typename).toBe("Film");
});

test("a layout has the client's fields for its type in the client's order", () => {
  const query = "{ media { ... on Film { minutes } b: score ... on Book { pages } id } }";
  const { below } = setUp(query, [fetch("{ media { __typename } }")]);
  const names = (__typename: string) =>
    below("media")
      .layoutOf({ __typename }, [])
      ?.fields.map((one) => one.responseName);
  expect(names("Book")).toEqual(["b", "pages", "id"]);
  expect(names("Film")).toEqual(["minutes", "b", "id"]);
});

test("a field is read from the object or from the fetch that provides it", () => {
  const joined = fetch("{ name }", ["user"]);
  const { below } = setUp("{ user { id name friend { id } } }", [fetch("{ user { id } }"), joined]);
  const ada = { id: "1" };
  const joins: Joins = [undefined, { find: (object) => (object === ada ? { name: "Ada" } : undefined) }];
  const layout = below("user").layoutOf(ada, joins);
  expect(layout?.access("id")).toMatchObject({ joinIndex: noJoin, service: "s0" });
  expect(layout?.access("id")?.read(ada, joins)).toBe("1");
  expect(layout?.access("name")).toMatchObject({ joinIndex: 1, service: "s1" });
  expect(layout?.access("name")?.read(ada, joins)).toBe("Ada");
  expect(layout?.access("name")?.read({ id: "2" }, joins)).toBeUndefined();
  expect(layout?.access("friend")).toBeUndefined();
  expect(layout?.responseNamesFrom(joined)).toEqual(["name"]);
});

test("inherited properties are not fields", () => {
  const { below } = setUp("{ user { toString } }", [fetch("{ user { toString } }")]);
  const access = below("user").layoutOf({}, [])?.access("toString");
  expect(access?.read({}, [])).toBeUndefined();
  expect(access?.read({ toString: "Ada" }, [])).toBe("Ada");
});

test("a field that two fetches provide is read from the second if the first has no value", () => {
  const fetches = [fetch("{ user { id } }"), fetch("{ name }", ["user"]), fetch("{ name }", ["user"])];
  const { below } = setUp("{ user { name } }", fetches);
  const joins: Joins = [undefined, undefined, { find: () => ({ name: "Ada" }) }];
  expect(below("user").layoutOf({}, joins)?.access("name")?.read({}, joins)).toBe("Ada");
});

test("client paths have the client's response names and stop before a field that the client did not select", () => {
  const { root } = setUp("{ user { friend { name } } }", [fetch("{ user { id friend { name } } }")]);
  expect(root.toClientPath(["user", "friend", "name"])).toEqual(["user", "friend", "name"]);
  expect(root.toClientPath(["user", "id"])).toEqual(["user"]);
  expect(root.toClientPath(["media", 0])).toEqual([]);
  expect(root.toClientPath(["user", -1, "friend"])).toEqual(["user"]);
});

test("each member of a union has its fields", () => {
  const { below } = setUp("{ anything { ... on User { name } ... on Book { pages } } }", [
    fetch("{ anything { __typename ... on User { name } ... on Book { pages } } }"),
  ]);
  const layoutOf = (__typename: string) => below("anything").layoutOf({ __typename }, []);
  expect(layoutOf("User")?.access("pages")).toBeUndefined();
  expect(layoutOf("Book")?.access("pages")?.read({ pages: 7 }, [])).toBe(7);
  expect(layoutOf("Film")).toBeUndefined();
});

/** `below` returns the position of a root field. */
function setUp(query: string, fetches: readonly CompiledFetch[]) {
  const position = createRootPosition(
    {
      types: createSupergraphTypes(schema),
      findApiType: (name) => schema.getType(name),
      fetches: fetches.map((one, joinIndex) => Object.assign(one, { joinIndex, service: `s${joinIndex}` })),
      isMerged: false,
      clientKeyOf: responseNameOf,
      fetchKeyOf: responseNameOf,
      introspection: undefined,
      addRetainedBytes: () => {},
    },
    typeOf("Query"),
    [selectionSetOf(query)],
  );
  return { root: position, below: (key: string) => below(position, key) };
}

function below(root: ResponsePosition, key: string): ResponsePosition {
  // A fetch of root fields brings the same data for every object.
  const position = root.layoutOf({}, [{ find: () => ({}) }])?.access(key)?.position;
  if (!position) throw new Error(`No position at ${key}`);
  return position;
}

/** The properties of a fetch that positions read. */
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
  if (!isCompositeType(type)) throw new Error(`${name} is no composite type`);
  return type;
}
