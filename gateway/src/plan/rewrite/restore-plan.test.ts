import type { FetchNode, QueryPlan } from "@apollo/query-planner";
import { Kind, OperationTypeNode } from "graphql";
import { expect, test } from "vitest";
import { restorePlan } from "./restore-plan.ts";

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
  directiveNames: new Map(),
};

/** The fetches in a sequence and a parallel node, one of them flattened. */
function restored(...fetches: readonly Partial<FetchNode>[]): readonly FetchNode[] {
  const nodes = fetches.map((fetch) => ({ kind: "Flatten" as const, path: ["a", "@"], node: { ...plain, ...fetch } }));
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
