import { composeServices } from "@apollo/composition";
import type { FetchNode, PlanNode, QueryPlan } from "@apollo/query-planner";
import { Kind, OperationTypeNode, parse, print, stripIgnoredCharacters } from "graphql";
import { describe, expect, test } from "vitest";
import { createDirectiveDefaults, withExecutableDirectives } from "./executable-directives.ts";
import { createQueryPlanner } from "./query-planner.ts";
import { restorePlan } from "./restore-plan.ts";
import { splitMutation } from "./split-mutation.ts";

describe("the query planner", () => {
  test("a chain of @requires is fetched from its end, wherever the operation begins", () => {
    const planner = createQueryPlanner(supergraph(chain));
    const lastFetches = [
      "prices labelled.@ {price}",
      "labels labelled.@ price id → {isExpensive}",
      "wallets labelled.@ isExpensive id → {canAfford}",
      "labels labelled.@ canAfford id → {advice}",
    ];
    expect(stepsOf(planner.plan("{labelled{advice}}").node)).toEqual([
      "labels {labelled{__typename id}}",
      "prices labelled.@ id → {price}",
      ...lastFetches.slice(1),
    ]);
  });

  test("a field that is required with arguments is fetched beside the client's field", () => {
    const planner = createQueryPlanner(supergraph(taxes));
    expect(stepsOf(planner.plan("{products{price(currency:USD)tax}}").node)).toEqual([
      "products {products{__typename upc price(currency:USD)s_price_0:price(currency:EUR)}}",
      "taxes products.@ upc s_price_0 → {tax}",
    ]);
  });

  test("the root fields of a mutation are planned one by one", () => {
    const planner = createQueryPlanner(supergraph({ one: "type Query { a: Int } type Mutation { b: Int c: Int }" }));
    expect(stepsOf(planner.plan("mutation{b x:c}").node)).toEqual(["one mutation{b}", "one mutation{x:c}"]);
  });

  test("the API schema has no synthetic fields", () => {
    const { apiSdl } = createQueryPlanner(supergraph(taxes));
    expect(apiSdl).toContain("price(currency: Currency): Int");
    expect(apiSdl).not.toContain("s_price_0");
  });

  test("only one anonymous operation is planned", () => {
    const planner = createQueryPlanner(supergraph({ one: "type Query { a: Int }" }));
    expect(() => planner.plan("query Named { a }")).toThrow("Not one anonymous operation");
    expect(() => planner.plan("{ a } fragment F on Query { a }")).toThrow("Not one anonymous operation");
  });

  const chain = {
    prices: 'type Query { priced: [Product] } type Product @key(fields: "id") { id: ID! price: Int }',
    labels: `
    type Query { labelled: [Product] }
    type Product @key(fields: "id") {
      id: ID! price: Int @external canAfford: Boolean @external
      isExpensive: Boolean @requires(fields: "price") advice: String @requires(fields: "canAfford")
    }`,
    wallets: `
    type Product @key(fields: "id") {
      id: ID! isExpensive: Boolean @external canAfford: Boolean @requires(fields: "isExpensive")
    }`,
  };

  const taxes = {
    products: `
    type Query { products: [Product] } enum Currency { EUR USD }
    type Product @key(fields: "upc") { upc: ID! price(currency: Currency): Int }`,
    taxes: `
    enum Currency { EUR USD }
    type Product @key(fields: "upc") {
      upc: ID! price(currency: Currency): Int @external tax: Int @requires(fields: "price(currency: EUR)")
    }`,
  };

  function supergraph(subgraphs: Readonly<Record<string, string>>): string {
    const link =
      'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@external", "@requires"])';
    const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: "", typeDefs: parse(link + sdl) }));
    const { supergraphSdl, errors } = composeServices(services);
    if (supergraphSdl === undefined) throw new AggregateError(errors ?? []);
    return supergraphSdl;
  }

  /** The fetches in order: the service; for an entity fetch, its path, what it requires and what it selects. */
  function stepsOf(node: unknown, path = ""): readonly string[] {
    const plan = node as PlanNode;
    if (plan.kind === "Sequence" || plan.kind === "Parallel")
      return plan.nodes.flatMap((child) => stepsOf(child, path));
    if (plan.kind === "Flatten") return stepsOf(plan.node, plan.path.join("."));
    if (plan.kind !== "Fetch") throw new Error(`Unexpected ${plan.kind}`);
    if (!plan.requires) return [`${plan.serviceName} ${plan.operation}`];
    const required = plan.requires.flatMap((one) => ("selections" in one ? (one.selections ?? []) : []));
    const names = required.flatMap((one) => (one.kind === "Field" && one.name !== "__typename" ? one.name : []));
    const selected = /\.\.\.on \w+(\{.*\})\}\}$/.exec(plan.operation)?.[1];
    return [`${plan.serviceName} ${path} ${names.join(" ")} → ${selected}`];
  }
});

describe("split mutations", () => {
  test("each root field of a mutation becomes an operation", () => {
    expect(split("mutation ($x: Int) { a { b } c(x: $x) }")).toEqual([
      "mutation($x:Int){a{b}}",
      "mutation($x:Int){c(x:$x)}",
    ]);
  });

  test("selections with one response name are one field, in the order of the first", () => {
    expect(split("mutation { x: a { b } c x: a { d } }")).toEqual(["mutation{x:a{b}x:a{d}}", "mutation{c}"]);
  });

  test("fields keep their surrounding fragments", () => {
    expect(split("mutation { ... on M { ... @custom { a } b } }")).toEqual([
      "mutation{...on M{...@custom{a}}}",
      "mutation{...on M{b}}",
    ]);
  });

  test("a query is not split", () => {
    expect(split("{ a b }")).toEqual(["{a b}"]);
  });

  function split(text: string): readonly string[] {
    const [operation] = parse(text).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
    return splitMutation(operation).map((one) => stripIgnoredCharacters(print(one)));
  }
});

describe("executable directives", () => {
  test("a composed directive is allowed in operations and is forwarded with its default arguments", () => {
    const planner = createQueryPlanner(
      supergraph({
        a: "directive @access(scope: Scope!) on FIELD type Query { a: Int } enum Scope { PUBLIC PRIVATE }",
        b: "directive @access(scope: Scope! = PUBLIC) on FIELD type Query { b: Int } enum Scope { PUBLIC PRIVATE }",
      }),
    );
    expect(planner.apiSdl).toContain("directive @access(scope: Scope! = PUBLIC) on FIELD");
    expect(JSON.stringify(planner.plan("{a@access b@access(scope:PRIVATE)}"))).toMatch(
      /\{a@access\(scope:PUBLIC\)\}.*\{b@access\(scope:PRIVATE\)\}/,
    );
  });

  test("the API schema has executable directives, reduced to their executable locations", () => {
    const definitions = parse(`
    directive @known on FIELD
    directive @both(x: Int @tag(name: "y")) on FIELD | OBJECT
    directive @types on OBJECT | FIELD_DEFINITION
    directive @defer(label: String) on FRAGMENT_SPREAD`);
    expect(withExecutableDirectives("directive @known on FIELD", definitions).split("\n\n")).toEqual([
      "directive @known on FIELD",
      "directive @both(x: Int) on FIELD",
      "directive @defer(label: String) on FRAGMENT_SPREAD",
    ]);
  });

  test("default values are written only for omitted arguments", () => {
    const definitions = parse("directive @custom(x: Int = 1, y: Int, z: [Int] = [2]) on FIELD | QUERY");
    const write = createDirectiveDefaults(definitions);
    const [operation] = parse("query @custom { a @custom(z: 3) b @other }").definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
    expect(stripIgnoredCharacters(print(write(operation)))).toBe("query@custom(x:1 z:[2]){a@custom(z:3 x:1)b@other}");
  });

  /** Each subgraph composes its directive @access. */
  function supergraph(subgraphs: Readonly<Record<string, string>>): string {
    const link = `extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.1", import: ["@composeDirective"])
    @link(url: "https://example.com/access/v1.0", import: ["@access"]) @composeDirective(name: "@access")\n`;
    const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: "", typeDefs: parse(link + sdl) }));
    const { supergraphSdl, errors } = composeServices(services);
    if (supergraphSdl === undefined) throw new AggregateError(errors ?? []);
    return supergraphSdl;
  }
});

describe("restored plans", () => {
  test("a synthetic field becomes an alias of the field that it replaces", () => {
    const [fetch] = restored({ operation: "{products{upc s_price_0}}" });
    expect(fetch?.operation).toBe("{products{upc s_price_0:price(currency:EUR)}}");
  });

  test("the planner's alias for a synthetic field remains", () => {
    const [fetch] = restored({ operation: "{a{...on B{s_price_0__alias_0:s_price_0{x}}}}" });
    expect(fetch?.operation).toBe("{a{...on B{s_price_0__alias_0:price(currency:EUR){x}}}}");
  });

  test("representations have the published field names: the deepest are renamed first, all before the type is set", () => {
    const setter = { kind: "ValueSetter" as const, path: ["... on Film", "__typename"], setValueTo: "Media" };
    const [fetch] = restored({
      requires: [
        {
          kind: "InlineFragment",
          typeCondition: "Film",
          selections: [
            { kind: "Field", name: "__typename" },
            { kind: "Field", name: "s_home_1", selections: [onFlat([{ kind: "Field", name: "s_price_0" }])] },
          ],
        },
      ],
      inputRewrites: [setter],
    });
    expect(fetch?.inputRewrites).toEqual([
      { kind: "KeyRenamer", path: ["... on Film", "s_home_1", "... on Flat", "s_price_0"], renameKeyTo: "price" },
      { kind: "KeyRenamer", path: ["... on Film", "s_home_1"], renameKeyTo: "home" },
      setter,
    ]);
  });

  test("a virtual subgraph becomes its service", () => {
    const services = restored({ serviceName: "taxes#3" }, { serviceName: "taxes" }, { serviceName: "other" });
    expect(services.map(({ serviceName }) => serviceName)).toEqual(["taxes", "taxes", "other"]);
  });

  test("object types of a virtual subgraph become the interface object of the service", () => {
    const [fetch] = restored({
      serviceName: "tags#4",
      operation: "{_entities{...on Film{tag x}...on Show{tag}...on Show{tag x}}}",
      requires: ["Film", "Show"].map((typeCondition) => ({
        kind: "InlineFragment" as const,
        typeCondition,
        selections: [{ kind: "Field" as const, name: "s_home_1" }],
      })),
    });
    expect(fetch?.operation).toBe("{_entities{...on Media{tag x}...on Media{tag}}}");
    expect(fetch?.inputRewrites).toEqual([
      { kind: "KeyRenamer", path: ["... on Film", "s_home_1"], renameKeyTo: "home" },
      { kind: "KeyRenamer", path: ["... on Show", "s_home_1"], renameKeyTo: "home" },
      { kind: "ValueSetter", path: ["... on Film", "__typename"], setValueTo: "Media" },
      { kind: "ValueSetter", path: ["... on Show", "__typename"], setValueTo: "Media" },
    ]);
  });

  test("a fetch without additions stays unchanged", () => {
    const fetch = { ...plain, operation: "{products{upc}}" };
    expect(restored(fetch)).toEqual([fetch]);
  });

  test("an empty plan stays empty", () => {
    expect(restorePlan({ kind: "QueryPlan" }, additions)).toEqual({ kind: "QueryPlan" });
  });

  const plain: FetchNode = {
    kind: "Fetch",
    serviceName: "products",
    operation: "{x}",
    operationName: undefined,
    operationKind: OperationTypeNode.QUERY,
  };

  const additions = {
    syntheticFields: new Map([
      ["s_price_0", { field: "price", arguments: [currency()] }],
      ["s_home_1", { field: "home", arguments: [] }],
    ]),
    virtualSubgraphs: new Map([
      ["taxes#3", { service: "taxes", interfaceObjects: new Map() }],
      [
        "tags#4",
        {
          service: "tags",
          interfaceObjects: new Map([
            ["Film", "Media"],
            ["Show", "Media"],
          ]),
        },
      ],
    ]),
    publishedDirectiveNames: new Map(),
  };

  /** The fetches in a sequence and a parallel node, one of them flattened. */
  function restored(...fetches: readonly Partial<FetchNode>[]): readonly FetchNode[] {
    const nodes = fetches.map((fetch) => ({
      kind: "Flatten" as const,
      path: ["a", "@"],
      node: { ...plain, ...fetch },
    }));
    const plan: QueryPlan = {
      kind: "QueryPlan",
      node: { kind: "Sequence", nodes: [{ kind: "Parallel", nodes }] },
    };
    const all: FetchNode[] = [];
    JSON.stringify(restorePlan(plan, additions), (_, value: unknown) => {
      if (isFetch(value)) all.push(value);
      return value;
    });
    return all;
  }

  const isFetch = (value: unknown): value is FetchNode =>
    typeof value === "object" && value !== null && "kind" in value && value.kind === "Fetch";

  function onFlat(selections: { readonly kind: "Field"; readonly name: string }[]) {
    return { kind: "InlineFragment" as const, typeCondition: "Flat", selections };
  }

  function currency() {
    const [name, value] = [
      { kind: Kind.NAME as const, value: "currency" },
      { kind: Kind.ENUM as const, value: "EUR" },
    ];
    return { kind: Kind.ARGUMENT as const, name, value };
  }
});
