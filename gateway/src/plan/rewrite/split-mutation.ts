// Splits a mutation into one operation per root field, because everything below a root field must be complete before the next root field is executed.
import { Kind, type OperationDefinitionNode, OperationTypeNode, type SelectionNode } from "graphql";

/**
 * The planner would put successive root fields of one subgraph into one fetch, and plan the fetches below these fields after that fetch. By the
 * GraphQL spec ("Mutation", "ExecuteSelectionSet"), the fetches below a root field belong to its execution.
 * @returns one operation per response name at the root, in the client's order; for a query, the unchanged query.
 */
export function splitMutation(operation: OperationDefinitionNode): readonly OperationDefinitionNode[] {
  if (operation.operation !== OperationTypeNode.MUTATION) return [operation];
  const selectionsByName = new Map<string, SelectionNode[]>();
  collect(operation.selectionSet.selections, (selection) => selection, selectionsByName);
  return [...selectionsByName.values()].map((selections) => ({
    ...operation,
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  }));
}

/**
 * Adds each field to the selections of its response name.
 * @param wrap puts a field back into the fragments that surround it.
 */
function collect(
  selections: readonly SelectionNode[],
  wrap: (selection: SelectionNode) => SelectionNode,
  selectionsByName: Map<string, SelectionNode[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      const sameName = selectionsByName.get(name) ?? [];
      sameName.push(wrap(selection));
      selectionsByName.set(name, sameName);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { selectionSet } = selection;
      const wrapInner = (inner: SelectionNode) =>
        wrap({ ...selection, selectionSet: { ...selectionSet, selections: [inner] } });
      collect(selectionSet.selections, wrapInner, selectionsByName);
    }
  }
}
