import type { FetchNode, QueryPlan } from "@apollo/query-planner";
import { Kind, OperationTypeNode } from "graphql";
import { expect, test } from "vitest";
import { repairPlan } from "./repair-plan.ts";

test("fetches ask synthetic fields as what they stand for, under their synthetic name", () => {
  const [fetch] = repaired({ operation: "{products{upc s_price_0}}" });
  expect(fetch?.operation).toBe("{products{upc s_price_0:price(currency:EUR)}}");
});

test("an alias that the planner gave to a synthetic field stays", () => {
  const [fetch] = repaired({ operation: "{a{...on B{s_price_0__alias_0:s_price_0{x}}}}" });
  expect(fetch?.operation).toBe("{a{...on B{s_price_0__alias_0:price(currency:EUR){x}}}}");
});

test("representations give the field its own name, the deepest first and before the type is rewritten", () => {
  const setter = { kind: "ValueSetter" as const, path: ["... on Film", "__typename"], setValueTo: "Media" };
  const [fetch] = repaired({
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

test("a virtual subgraph is the service that it stands for", () => {
  const services = repaired({ serviceName: "taxes#3" }, { serviceName: "taxes" }, { serviceName: "other" });
  expect(services.map(({ serviceName }) => serviceName)).toEqual(["taxes", "taxes", "other"]);
});

test("a virtual subgraph's object types are the interface object that the service knows", () => {
  const [fetch] = repaired({
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

test("a fetch that has nothing synthetic stays as it is", () => {
  const fetch = { ...plain, operation: "{products{upc}}" };
  expect(repaired(fetch)).toEqual([fetch]);
});

test("an empty plan stays empty", () => {
  expect(repairPlan({ kind: "QueryPlan" }, additions)).toEqual({ kind: "QueryPlan" });
});

const plain: FetchNode = {
  kind: "Fetch",
  serviceName: "products",
  operation: "{x}",
  operationName: undefined,
  operationKind: OperationTypeNode.QUERY,
};

const additions = {
  synthetics: new Map([
    ["s_price_0", { field: "price", arguments: [currency()] }],
    ["s_home_1", { field: "home", arguments: [] }],
  ]),
  virtuals: new Map([
    ["taxes#3", { service: "taxes", standIns: new Map() }],
    [
      "tags#4",
      {
        service: "tags",
        standIns: new Map([
          ["Film", "Media"],
          ["Show", "Media"],
        ]),
      },
    ],
  ]),
  directiveNames: new Map(),
};

/** The fetches in a sequence and a parallel node, one of them flattened. */
function repaired(...fetches: readonly Partial<FetchNode>[]): readonly FetchNode[] {
  const nodes = fetches.map((fetch) => ({ kind: "Flatten" as const, path: ["a", "@"], node: { ...plain, ...fetch } }));
  const plan: QueryPlan = {
    kind: "QueryPlan",
    node: { kind: "Sequence", nodes: [{ kind: "Parallel", nodes }] },
  };
  const found: FetchNode[] = [];
  JSON.stringify(repairPlan(plan, additions), (_, value: unknown) => {
    if (isFetch(value)) found.push(value);
    return value;
  });
  return found;
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
