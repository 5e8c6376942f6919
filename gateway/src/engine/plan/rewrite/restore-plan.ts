// Replaces in a query plan what only the planner's supergraph has: synthetic fields, virtual subgraphs and renamed directives.
import type {
  FetchDataKeyRenamer,
  FetchDataRewrite,
  FetchNode,
  PlanNode,
  QueryPlan,
  QueryPlanSelectionNode,
  SubscriptionNode,
} from "@apollo/query-planner";
import { type DocumentNode, Kind, parse, print, stripIgnoredCharacters, visit } from "graphql";
import { type DirectiveNames, renameDirectives } from "./executable-directives.ts";
import type { VirtualSubgraphs } from "./separate-requires.ts";
import type { SyntheticFields } from "./synthetic-fields.ts";
import type { InterfaceObjects } from "./virtual-subgraph.ts";

export interface SupergraphAdditions {
  readonly syntheticFields: SyntheticFields;
  readonly virtualSubgraphs: VirtualSubgraphs;
  /** By the planner's names. */
  readonly publishedDirectiveNames: DirectiveNames;
}

export function restorePlan(plan: QueryPlan, additions: SupergraphAdditions): QueryPlan {
  return plan.node ? { ...plan, node: restoreNode(plan.node, additions) } : plan;
}

function restoreNode<N extends PlanNode | SubscriptionNode>(node: N, additions: SupergraphAdditions): N;
function restoreNode(node: PlanNode | SubscriptionNode, additions: SupergraphAdditions): PlanNode | SubscriptionNode {
  switch (node.kind) {
    case "Fetch":
      return restoreFetch(node, additions);
    case "Flatten":
      // With `typeConditionedFetching`, paths begin with an empty step for the root.
      return { ...node, path: node.path.filter((step) => step !== ""), node: restoreNode(node.node, additions) };
    case "Sequence":
    case "Parallel":
      return { ...node, nodes: node.nodes.map((child) => restoreNode(child, additions)) };
    case "Defer":
    case "Condition":
    case "Subscription":
      // Before planning, conditions are resolved, `@defer` is removed, a subgraph's own is renamed, and subscriptions are rejected.
      throw new Error(`The plan has a ${node.kind} node`);
  }
}

function restoreFetch(fetch: FetchNode, additions: SupergraphAdditions): FetchNode {
  const { syntheticFields, virtualSubgraphs } = additions;
  const virtual = virtualSubgraphs.get(fetch.serviceName);
  const requires = fetch.requires ?? [];
  // Setters of __typename come last: the paths of the other rewrites contain the type names that these setters replace.
  const rewrites = [
    ...fieldRenamers(requires, syntheticFields, []),
    ...(fetch.inputRewrites ?? []),
    ...typenameSetters(requires, virtual?.interfaceObjects),
  ];
  const serviceName = virtual?.service ?? fetch.serviceName;
  const restored = { ...fetch, serviceName, operation: restoreOperation(fetch, additions) };
  return rewrites.length > 0 ? { ...restored, inputRewrites: rewrites } : restored;
}

function restoreOperation({ operation, serviceName }: FetchNode, additions: SupergraphAdditions): string {
  const { syntheticFields, publishedDirectiveNames } = additions;
  const interfaceObjects = additions.virtualSubgraphs.get(serviceName)?.interfaceObjects;
  const hasInterfaceObjects = interfaceObjects !== undefined && interfaceObjects.size > 0;
  const hasAdditions = syntheticFields.size > 0 || publishedDirectiveNames.size > 0 || hasInterfaceObjects;
  if (!hasAdditions) return operation;
  let document = restoreFields(parse(operation, { noLocation: true }), syntheticFields);
  document = renameDirectives(document, publishedDirectiveNames);
  if (interfaceObjects) document = restoreInterfaceObjects(document, interfaceObjects);
  return stripIgnoredCharacters(print(document));
}

/** If selections become equal, only one of them remains. */
function restoreInterfaceObjects(document: DocumentNode, interfaceObjects: InterfaceObjects): DocumentNode {
  return visit(document, {
    NamedType({ kind, name }) {
      const interfaceObject = interfaceObjects.get(name.value);
      return interfaceObject === undefined ? undefined : { kind, name: { kind: Kind.NAME, value: interfaceObject } };
    },
    SelectionSet: {
      leave({ kind, selections }) {
        const selectionsByText = new Map(selections.map((selection) => [print(selection), selection]));
        return { kind, selections: [...selectionsByText.values()] };
      },
    },
  });
}

function typenameSetters(
  requires: readonly QueryPlanSelectionNode[],
  interfaceObjects: InterfaceObjects | undefined,
): FetchDataRewrite[] {
  return requires.flatMap((selection): FetchDataRewrite[] => {
    if (selection.kind !== "InlineFragment") return [];
    const { typeCondition = "" } = selection;
    const interfaceObject = interfaceObjects?.get(typeCondition);
    if (interfaceObject === undefined) return [];
    return [{ kind: "ValueSetter", path: [`... on ${typeCondition}`, "__typename"], setValueTo: interfaceObject }];
  });
}

/** `s_price_0` becomes `s_price_0: price(currency: EUR)`. */
function restoreFields(document: DocumentNode, syntheticFields: SyntheticFields): DocumentNode {
  return visit(document, {
    Field(node) {
      const replaced = syntheticFields.get(node.name.value);
      if (!replaced) return undefined;
      const name = { kind: Kind.NAME, value: replaced.field } as const;
      return { ...node, alias: node.alias ?? node.name, name, arguments: replaced.arguments };
    },
  });
}

/** The deepest come first, because paths contain the synthetic names. */
function fieldRenamers(
  selections: readonly QueryPlanSelectionNode[],
  syntheticFields: SyntheticFields,
  path: readonly string[],
): FetchDataKeyRenamer[] {
  return selections.flatMap((selection): FetchDataKeyRenamer[] => {
    if (selection.kind === "InlineFragment") {
      const innerPath = selection.typeCondition === undefined ? path : [...path, `... on ${selection.typeCondition}`];
      return fieldRenamers(selection.selections, syntheticFields, innerPath);
    }
    const fieldPath = [...path, selection.name];
    const below = fieldRenamers(selection.selections ?? [], syntheticFields, fieldPath);
    const replaced = syntheticFields.get(selection.name);
    return replaced ? [...below, { kind: "KeyRenamer", path: fieldPath, renameKeyTo: replaced.field }] : below;
  });
}
