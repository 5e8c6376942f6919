// Stage 3 of 5: how to answer? A mutation's fields are planned one by one, because each is complete before the next one runs.
import { Kind, type OperationDefinitionNode, OperationTypeNode, type SelectionNode } from "graphql";

/**
 * The planner asks neighbouring fields of one subgraph at once, and what lies below them in other subgraphs after all of them; by
 * the GraphQL spec ("Mutation", "ExecuteSelectionSet") it belongs to the field.
 * @returns one operation for each response name at the root, in order. Anything but a mutation is one operation.
 */
export function splitMutation(operation: OperationDefinitionNode): readonly OperationDefinitionNode[] {
  if (operation.operation !== OperationTypeNode.MUTATION) return [operation];
  const groups = new Map<string, SelectionNode[]>();
  collect(operation.selectionSet.selections, (selection) => selection, groups);
  return [...groups.values()].map((selections) => ({
    ...operation,
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  }));
}

/** `wrap` puts the fragments around a field again. */
function collect(
  selections: readonly SelectionNode[],
  wrap: (selection: SelectionNode) => SelectionNode,
  into: Map<string, SelectionNode[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      into.set(name, [...(into.get(name) ?? []), wrap(selection)]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { selectionSet } = selection;
      const wrapInner = (inner: SelectionNode) =>
        wrap({ ...selection, selectionSet: { ...selectionSet, selections: [inner] } });
      collect(selectionSet.selections, wrapInner, into);
    }
  }
}
