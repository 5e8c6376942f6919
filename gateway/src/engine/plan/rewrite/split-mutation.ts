import { Kind, type OperationDefinitionNode, OperationTypeNode, type SelectionNode } from "graphql";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { withSelections } from "../normalize/resolve-conditions.ts";

/**
 * Everything below a root field of a mutation must be complete before the next one is executed (GraphQL spec, "Mutation"); the planner would put
 * successive root fields of one subgraph into one fetch.
 * @returns one operation per response name at the root, in the client's order; for a query, the unchanged query.
 */
export function splitMutation(operation: OperationDefinitionNode): readonly OperationDefinitionNode[] {
  if (operation.operation !== OperationTypeNode.MUTATION) return [operation];
  const selectionsByName = new Map<string, SelectionNode[]>();
  collect(operation.selectionSet.selections, (selection) => selection, selectionsByName);
  return [...selectionsByName.values()].map((selections) => withSelections(operation, selections));
}

/** @param wrap puts a field back into the fragments that surround it. */
function collect(
  selections: readonly SelectionNode[],
  wrap: (selection: SelectionNode) => SelectionNode,
  selectionsByName: Map<string, SelectionNode[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = responseNameOf(selection);
      const sameName = selectionsByName.get(name) ?? [];
      sameName.push(wrap(selection));
      selectionsByName.set(name, sameName);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const wrapInner = (inner: SelectionNode) => wrap(withSelections(selection, [inner]));
      collect(selection.selectionSet.selections, wrapInner, selectionsByName);
    }
  }
}
