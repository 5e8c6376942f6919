// Orders the fetches of a query plan by the values of contextual arguments (`@fromContext`). If another fetch than that of the objects below provides a
// value, the planner plans both in parallel (query-planner 2.14.4, `computeGroupsForTree`): `{ shops { items { sign } } }` in
// `gateway/test/differential/cases/contexts-elsewhere.ts`.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { Kind, type SelectionSetNode } from "graphql";
import { Rejection } from "../../../errors/rejections.ts";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { parseOperation } from "../rewrite/supergraph-edit.ts";
import { findEntities } from "./fetch-document.ts";
import { readFetchPath } from "./fetch-path.ts";

/** Positions of fields in the response, such as `shops.cabin`, that a part of the plan reads or provides. */
interface Positions {
  readonly read: ReadonlySet<string>;
  readonly provided: ReadonlySet<string>;
}

/**
 * @throws Rejection OPERATION_NOT_RESOLVABLE if no fetch provides a value. For two arguments with type conditions in their selections, such as
 * `$home ... on Cabin { name }`, below one object, the planner selects the value of one of them (query-graphs 2.14.4, `PathTree.equalsSameRoot`).
 */
export function orderContexts(node: PlanNode): PlanNode {
  if (!listFetches(node).some(([{ contextRewrites }]) => contextRewrites)) return node;
  const { read, provided } = findPositions(node);
  if ([...read].some((position) => !provided.has(position))) throw new Rejection("OPERATION_NOT_RESOLVABLE");
  return orderIn(node);
}

function orderIn(node: PlanNode): PlanNode {
  if (node.kind === "Flatten") return { ...node, node: orderIn(node.node) };
  if (node.kind !== "Sequence" && node.kind !== "Parallel") return node;
  const nodes = node.nodes.map(orderIn);
  return node.kind === "Sequence" ? { kind: "Sequence", nodes } : orderBranches(nodes);
}

/** A sequence of branches that can be fetched in parallel. */
function orderBranches(nodes: readonly PlanNode[]): PlanNode {
  const steps: PlanNode[] = [];
  let pending = nodes.map((node) => ({ node, ...findPositions(node) }));
  const waitsFor = (branch: Positions, other: Positions) =>
    [...branch.read].some((position) => !branch.provided.has(position) && other.provided.has(position));
  while (pending.length > 0) {
    const ready = pending.filter((branch) => !pending.some((other) => other !== branch && waitsFor(branch, other)));
    // Branches that wait for each other have no order: fields whose values have not arrived are null, with an error.
    const step = ready.length > 0 ? ready : pending;
    steps.push({ kind: "Parallel", nodes: step.map(({ node }) => node) });
    pending = pending.filter((branch) => !step.includes(branch));
  }
  return { kind: "Sequence", nodes: steps };
}

function findPositions(node: PlanNode): Positions {
  const read = new Set<string>();
  const provided = new Set<string>();
  for (const [fetch, keys] of listFetches(node)) {
    for (const { path } of fetch.contextRewrites ?? []) {
      const level = path.lastIndexOf("..") + 1;
      const fieldName = path.slice(level).find((step) => !step.startsWith("... on ")) ?? "";
      read.add([...keys.slice(0, keys.length - level), fieldName].join("."));
    }
    const operation = parseOperation(fetch.operation);
    addPositions((fetch.requires && findEntities(operation)?.selectionSet) ?? operation.selectionSet, keys, provided);
  }
  return { read, provided };
}

function addPositions({ selections }: SelectionSetNode, keys: readonly string[], positions: Set<string>): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    const keysHere = selection.kind === Kind.FIELD ? [...keys, responseNameOf(selection)] : keys;
    if (selection.kind === Kind.FIELD) positions.add(keysHere.join("."));
    if (selection.selectionSet) addPositions(selection.selectionSet, keysHere, positions);
  }
}

/** With their paths. */
function listFetches(
  node: PlanNode,
  keys: readonly string[] = [],
): readonly (readonly [FetchNode, readonly string[]])[] {
  if (node.kind === "Fetch") return [[node, keys]];
  if (node.kind === "Flatten")
    return listFetches(node.node, [...keys, ...readFetchPath(node.path).map(({ key }) => key)]);
  if (node.kind === "Sequence" || node.kind === "Parallel")
    return node.nodes.flatMap((child) => listFetches(child, keys));
  return [];
}
