// Stage 3 of 5: how to answer? What the planner's supergraph has more than the real one is taken out of the plan again.
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
import type { StandIns } from "./virtual-subgraph.ts";
import type { Synthetics } from "./synthetic-fields.ts";

/** How the planner's supergraph differs from the real one. */
export interface Additions {
  readonly synthetics: Synthetics;
  readonly virtuals: VirtualSubgraphs;
  /** The supergraph's names of directives that the planner knows by another name. */
  readonly directiveNames: DirectiveNames;
}

/** @returns plain JSON that is about the real subgraphs and their fields. */
export function repairPlan(plan: QueryPlan, additions: Additions): QueryPlan {
  return plan.node ? { ...plan, node: repairNode(plan.node, additions) } : plan;
}

function repairNode<N extends PlanNode | SubscriptionNode>(node: N, additions: Additions): N;
function repairNode(node: PlanNode | SubscriptionNode, additions: Additions): PlanNode | SubscriptionNode {
  switch (node.kind) {
    case "Fetch":
      return repairFetch(node, additions);
    case "Flatten":
      return { ...node, node: repairNode(node.node, additions) };
    case "Sequence":
    case "Parallel":
      return { ...node, nodes: node.nodes.map((child) => repairNode(child, additions)) };
    case "Defer":
    case "Condition":
    case "Subscription":
      // Conditions are resolved before planning. A subgraph's own @defer has another name here, and subscriptions are rejected.
      throw new Error(`The plan has a ${node.kind} node`);
  }
}

function repairFetch(fetch: FetchNode, additions: Additions): FetchNode {
  const { synthetics, virtuals } = additions;
  const virtual = virtuals.get(fetch.serviceName);
  const renamers = renamersOf(fetch.requires ?? [], synthetics, []);
  const rewrites = [...renamers, ...(fetch.inputRewrites ?? []), ...settersOf(fetch.requires ?? [], virtual?.standIns)];
  return {
    ...fetch,
    serviceName: virtual?.service ?? fetch.serviceName,
    operation: repairText(fetch, additions),
    // Rewrites that set __typename come last: the paths of renamers have type conditions.
    ...(rewrites.length > 0 && { inputRewrites: rewrites }),
  };
}

function repairText({ operation, serviceName }: FetchNode, additions: Additions): string {
  const { synthetics, directiveNames } = additions;
  const standIns = additions.virtuals.get(serviceName)?.standIns;
  if (synthetics.size === 0 && directiveNames.size === 0 && !standIns?.size) return operation;
  let document = writeBack(parse(operation, { noLocation: true }), synthetics);
  document = renameDirectives(document, directiveNames);
  if (standIns) document = withStandIns(document, standIns);
  return stripIgnoredCharacters(print(document));
}

/** The service knows the interface object only. What was asked of several types is then asked once. */
function withStandIns(document: DocumentNode, standIns: StandIns): DocumentNode {
  return visit(document, {
    NamedType({ kind, name }) {
      const standIn = standIns.get(name.value);
      return standIn === undefined ? undefined : { kind, name: { kind: Kind.NAME, value: standIn } };
    },
    SelectionSet: {
      leave: ({ kind, selections }) => ({
        kind,
        selections: [...new Map(selections.map((one) => [print(one), one])).values()],
      }),
    },
  });
}

/** Representations are of the interface object, too. */
function settersOf(requires: readonly QueryPlanSelectionNode[], standIns: StandIns | undefined): FetchDataRewrite[] {
  return requires.flatMap((one): FetchDataRewrite[] => {
    const standIn = one.kind === "InlineFragment" ? standIns?.get(one.typeCondition ?? "") : undefined;
    if (one.kind !== "InlineFragment" || standIn === undefined) return [];
    return [{ kind: "ValueSetter", path: [`... on ${one.typeCondition}`, "__typename"], setValueTo: standIn }];
  });
}

/** `s_price_0` becomes `s_price_0: price(currency: EUR)`. */
function writeBack(document: DocumentNode, synthetics: Synthetics): DocumentNode {
  return visit(document, {
    Field(node) {
      const stands = synthetics.get(node.name.value);
      if (!stands) return undefined;
      const name = { kind: Kind.NAME, value: stands.field } as const;
      return { ...node, alias: node.alias ?? node.name, name, arguments: stands.arguments };
    },
  });
}

/** In representations the field bears its own name again; the deepest are renamed first, as paths have the names from before. */
function renamersOf(
  selections: readonly QueryPlanSelectionNode[],
  synthetics: Synthetics,
  path: readonly string[],
): FetchDataKeyRenamer[] {
  return selections.flatMap((selection): FetchDataKeyRenamer[] => {
    if (selection.kind === "InlineFragment") {
      const inner = selection.typeCondition === undefined ? path : [...path, `... on ${selection.typeCondition}`];
      return renamersOf(selection.selections, synthetics, inner);
    }
    const own = [...path, selection.name];
    const below = renamersOf(selection.selections ?? [], synthetics, own);
    const stands = synthetics.get(selection.name);
    return stands ? [...below, { kind: "KeyRenamer", path: own, renameKeyTo: stands.field }] : below;
  });
}
