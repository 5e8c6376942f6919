import { composeServices } from "@apollo/composition";
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import {
  type GraphQLCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  buildSchema,
  isCompositeType,
  parse,
  print,
} from "graphql";
import { describe, expect, test } from "vitest";
import { buildSupergraphSchema } from "../../generation/supergraph-stages.ts";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { normalize } from "../normalize/normalize.ts";
import { createQueryPlanner } from "../rewrite/query-planner.ts";
import { createCompiler } from "./compile.ts";
import {
  type CompiledFetch,
  type CompiledPlan,
  type CompiledRequest,
  type DataJoins,
  type ResponsePosition,
  noJoin,
} from "./compiled-plan.ts";
import { type FetchPath, readFetchPath } from "./fetch-path.ts";
import { type PlannedFetch, scheduleFetches } from "./fetch-schedule.ts";
import { createStoppedKeyAdditions } from "./key-checks.ts";
import { createRootPosition } from "./positions.ts";
import { createRequestText, nameFetch } from "./request-text.ts";
import { createSupergraphTypes } from "./supergraph-types.ts";

describe("a compiled plan", () => {
  const books = `
  type Query { books: [Book] best: Book @shareable }
  type Book @key(fields: "isbn") { isbn: ID! title: String size: Size @shareable author: Author }
  type Size @shareable { pages: Int }
  type Author @key(fields: "id") { id: ID! }
`;
  const stocks = `
  type Query { best: Book @shareable }
  type Book @key(fields: "isbn") { isbn: ID! inStock: Int size: Size @shareable }
  type Size @shareable { grams: Int }
  type Author @key(fields: "id") { id: ID! name: String }
`;

  test("an entity fetch also selects the key, so that a wrong entity is detected", () => {
    const { requests } = compile("{ books { title inStock } }");
    expect(requests.map(({ currentText }) => textOf(currentText().head))).toEqual([
      "{books{__typename isbn title}}",
      "query($representations:[_Any!]!){_entities(representations:$representations){...on Book{inStock a_0_0_isbn:isbn}}}",
    ]);
  });

  test("equal fetches at several positions are united", () => {
    const { requests } = compile("{ books { author { name } } second: books { author { name } } }");
    const [, names] = requests;
    expect(names?.fetches.map(({ paths }) => paths.map(keysOf))).toEqual([
      [
        ["books", "author"],
        ["a_second", "author"],
      ],
    ]);
  });

  test("a subset of a request has the text and the positions of its members", () => {
    const { requests } = compile("{ books { inStock author { name } } second: books { author { name } } }");
    const [, request] = requests;
    const positionsOf = ({ fetches }: CompiledRequest) =>
      fetches.map(({ joinIndex, paths }) => [joinIndex, ...paths.map(keysOf)]);
    const [inStock, author, secondAuthor] = [["books"], ["books", "author"], ["a_second", "author"]];
    const [names] = request!.subset([2]);
    expect(positionsOf(request!)).toEqual([
      [1, inStock],
      [2, author, secondAuthor],
    ]);
    expect(positionsOf(names!)).toEqual([[2, secondAuthor]]);
    expect(textOf(names!.currentText().head)).toBe(
      "query($representations:[_Any!]!){_entities(representations:$representations){...on Author{name a_0_0_id:id}}}",
    );
    const [both] = request!.subset([1, 0]);
    expect(positionsOf(both!)).toEqual([
      [1, inStock],
      [2, author],
    ]);
    expect(request!.subset([0, 1])).toEqual([both]);
  });

  test("a request compiles a limited number of subsets, and divides further ones into single members", () => {
    const aliases = ["a", "b", "c", "d", "e", "f", "g"];
    const { requests } = compile(`{ ${aliases.map((alias) => `${alias}: books { author { name } }`).join(" ")} }`);
    const [, request] = requests;
    const compiled = new Set<CompiledRequest>();
    for (let bits = 1; bits < 2 ** aliases.length - 1; bits++) {
      const members = [...aliases.keys()].filter((member) => bits & (2 ** member));
      const subset = request!.subset(members);
      expect(subset.flatMap(({ fetches }) => fetches.flatMap((one) => one.members))).toEqual(members);
      for (const one of subset) compiled.add(one);
    }
    expect(compiled.size).toBeLessThanOrEqual(16 + aliases.length);
  });

  test("data is joined unless two fetches provide fields of one object without a key", () => {
    expect(compile("{ books { inStock size { pages } } }").isMerged).toBe(false);
    expect(compile("{ books { size { pages grams } } }").isMerged).toBe(true);
  });

  test("an operation that needs no subgraph has no requests", () => {
    expect(compile("{ __typename }").parts).toEqual([]);
    expect(compile("{ __schema { queryType { name } } }").introspection).toBeDefined();
  });

  function compile(source: string): CompiledPlan & { readonly requests: readonly CompiledRequest[] } {
    const supergraphSdl = compose();
    const planner = createQueryPlanner(supergraphSdl);
    const types = createSupergraphTypes(buildSupergraphSchema(parse(supergraphSdl)));
    const apiSchema = buildSchema(planner.apiSdl);
    const compilePlan = createCompiler({
      types,
      apiSchema,
      aliasPrefix: planner.aliasPrefix,
      checksKeys: () => true,
      stoppedKeyAdditions: createStoppedKeyAdditions(),
    });
    const document = parse(source);
    const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (!operation) throw new Error("The document has no operation");
    const normalized = normalize(document, operation, {}, { apiSchema, aliasPrefix: planner.aliasPrefix });
    const { planned } = normalized;
    const plan = compilePlan(normalized, planned ? planner.plan(print(planned)) : { kind: "QueryPlan" }, () => {});
    return { ...plan, requests: [...new Set(plan.parts.map(({ request }) => request))] };
  }

  function textOf(head: string): string {
    return (JSON.parse(`${head}}`) as { query: string }).query;
  }

  function compose(): string {
    const header = '@link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@shareable"])';
    const services = Object.entries({ books, stocks }).map(([name, text]) => ({
      name,
      url: `http://${name}.example`,
      typeDefs: parse(`extend schema ${header} ${text}`),
    }));
    const { supergraphSdl, errors } = composeServices(services);
    if (supergraphSdl === undefined) throw new Error(errors?.join("\n"));
    return supergraphSdl;
  }
});

describe("the fetch schedule", () => {
  test("parallel entity fetches of one subgraph are one request", () => {
    const plan = sequence(
      root("books"),
      parallel(entities("people", "books.@.author"), entities("people", "books.@.reader")),
    );
    expect(describeBatches(plan)).toEqual(["books:", "people:books.author people:books.reader, after books:"]);
  });

  test("parallel branches are batched level by level, and each fetch waits for its own branch", () => {
    const plan = parallel(
      sequence(root("books"), entities("reviews", "books.@")),
      sequence(root("people"), entities("reviews", "people.@"), entities("books", "people.@.review")),
    );
    expect(describeBatches(plan)).toEqual([
      "books:",
      "people:",
      "reviews:books, after books: | reviews:people, after people:",
      "books:people.review, after reviews:people",
    ]);
  });

  test("what follows parallel branches waits for the last fetch of each", () => {
    const plan = sequence(parallel(sequence(root("a"), root("b")), root("c")), entities("d", "x"));
    expect(describeBatches(plan)).toEqual(["a:", "c:", "b:, after a:", "d:x, after b: c:"]);
  });

  test("each fetch of root fields is its own request", () => {
    expect(describeBatches(parallel(root("books"), root("books")))).toEqual(["books:", "books:"]);
  });

  /** The fetches of a batch, by those that they wait for. */
  function describeBatches(plan: PlanNode): readonly string[] {
    return scheduleFetches(plan).map((batch) =>
      Array.from(Map.groupBy(batch, ({ after }) => after))
        .map(
          ([after, fetches]) =>
            describeFetches(fetches) + (after.length > 0 ? `, after ${describeFetches(after)}` : ""),
        )
        .join(" | "),
    );
  }

  function describeFetches(fetches: readonly PlannedFetch[]): string {
    return fetches.map(({ node, path }) => `${node.serviceName}:${keysOf(path).join(".")}`).join(" ");
  }

  function sequence(...nodes: PlanNode[]): PlanNode {
    return { kind: "Sequence", nodes };
  }

  function parallel(...nodes: PlanNode[]): PlanNode {
    return { kind: "Parallel", nodes };
  }

  function root(serviceName: string): FetchNode {
    return {
      kind: "Fetch",
      serviceName,
      operation: "{ a }",
      operationName: undefined,
      operationKind: "query" as never,
    };
  }

  function entities(serviceName: string, path: string): PlanNode {
    const requires = [{ kind: "Field", name: "id" } as const];
    return { kind: "Flatten", path: path.split("."), node: { ...root(serviceName), requires } };
  }
});

describe("request texts", () => {
  const none = { kind: Kind.SELECTION_SET, selections: [] } as const;
  const stock = "query($representations:[_Any!]!){_entities(representations:$representations){...on Book{stock}}}";
  const reviews =
    "query($representations:[_Any!]!$first:Int){_entities(representations:$representations){...on Person{reviews(first:$first){id}}}}";

  test("the operation of a single fetch is sent as planned", () => {
    expect(write(stock)).toBe(stock);
    expect(nameFetch(0, 1)).toEqual({ variable: "representations", entitiesKey: "_entities" });
  });

  test("several fetches have separate representations and entities, and share the client's variables", () => {
    expect(write(stock, reviews, reviews)).toBe(
      "query($representations0:[_Any!]!$representations1:[_Any!]!$first:Int$representations2:[_Any!]!){" +
        "_entities0:_entities(representations:$representations0){...on Book{stock}}" +
        "_entities1:_entities(representations:$representations1){...on Person{reviews(first:$first){id}}}" +
        "_entities2:_entities(representations:$representations2){...on Person{reviews(first:$first){id}}}}",
    );
  });

  function write(...texts: readonly string[]): string {
    const documents = texts.map((text) => ({ operation: read(text), selected: none, checkedKeys: [] }));
    const types = createSupergraphTypes(buildSchema("type Query { stock: Int }"));
    const options = { stoppedKeyAdditions: createStoppedKeyAdditions(), types };
    const { head } = createRequestText("books", documents, options).currentText();
    return (JSON.parse(`${head}}`) as { query: string }).query;
  }

  function read(text: string): OperationDefinitionNode {
    const [operation] = parse(text, { noLocation: true }).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("An operation is wanted");
    return operation;
  }
});

describe("positions of a response", () => {
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
    const dataJoins: DataJoins = [
      undefined,
      { find: (object) => (object === medium ? { __typename: "Film" } : undefined) },
    ];
    expect(below("media").layoutOf(medium, dataJoins)?.typename).toBe("Film");
    const interfaceOnly: DataJoins = [undefined, { find: () => ({ __typename: "Media" }) }];
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

  test("a layout knows which keys the client selects of its type, and rules out none for an unknown type", () => {
    const { below } = setUp("{ media { id ... on Book { pages } } }", [fetch("{ media { __typename } }")]);
    const selects = (__typename: string, key: string) => below("media").layoutOf({ __typename }, [])?.selects(key);
    expect([selects("Book", "pages"), selects("Film", "pages"), selects("Film", "id")]).toEqual([true, false, true]);
    expect(selects("Media", "pages")).toBe(true);
  });

  test("a field is read from the object or from the fetch that provides it", () => {
    const joined = fetch("{ name }", ["user"]);
    const { below } = setUp("{ user { id name friend { id } } }", [fetch("{ user { id } }"), joined]);
    const ada = { id: "1" };
    const dataJoins: DataJoins = [undefined, { find: (object) => (object === ada ? { name: "Ada" } : undefined) }];
    const layout = below("user").layoutOf(ada, dataJoins);
    expect(layout?.access("id")).toMatchObject({ joinIndex: noJoin, service: "s0" });
    expect(layout?.access("id")?.read(ada, dataJoins)).toBe("1");
    expect(layout?.access("name")).toMatchObject({ joinIndex: 1, service: "s1" });
    expect(layout?.access("name")?.read(ada, dataJoins)).toBe("Ada");
    expect(layout?.access("name")?.read({ id: "2" }, dataJoins)).toBeUndefined();
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
    const dataJoins: DataJoins = [undefined, undefined, { find: () => ({ name: "Ada" }) }];
    expect(below("user").layoutOf({}, dataJoins)?.access("name")?.read({}, dataJoins)).toBe("Ada");
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
        rejectedFields: new Set(),
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
    return { paths: [readFetchPath(path)], selected: selectionSetOf(selected) } as unknown as CompiledFetch;
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
});

function keysOf(path: FetchPath): readonly string[] {
  return path.map(({ key }) => key);
}
