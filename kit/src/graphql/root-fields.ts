import {
  type FragmentSpreadNode,
  GraphQLError,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";

/** Also in fragments. Each root field is a statement, and all of them queue for database connections ahead of other requests. */
export function createRootFieldsRule(rootFieldsMax: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation: OperationDefinitionNode) {
      if (countFields(operation.selectionSet, context) <= rootFieldsMax) return;
      const message = `An operation has at most ${rootFieldsMax} root fields.`;
      context.reportError(new GraphQLError(message, { nodes: operation }));
    },
  });
}

/** The fields of a fragment count once, which also ends cycles. A loop, since a long chain of fragments could overflow the stack. */
function countFields(root: SelectionSetNode, context: ValidationContext): number {
  let fieldCount = 0;
  const selectionSets = new Set<SelectionSetNode | undefined>([root]);
  for (const selectionSet of selectionSets) {
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FIELD) fieldCount++;
      else selectionSets.add(selectionSetOf(selection, context));
    }
  }
  return fieldCount;
}

/** Undefined for a fragment that does not exist, which another rule reports. */
function selectionSetOf(node: InlineFragmentNode | FragmentSpreadNode, context: ValidationContext) {
  if (node.kind === Kind.INLINE_FRAGMENT) return node.selectionSet;
  return context.getFragment(node.name.value)?.selectionSet;
}
