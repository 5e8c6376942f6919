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

/**
 * A validation rule: an operation has at most `rootFieldsMax` fields at its root, wherever they are spelt. Each is a statement of its
 * own, and all of them queue for the same few connections before everybody else's. The gateway holds clients to less.
 */
export function createRootFieldsRule(rootFieldsMax: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation: OperationDefinitionNode) {
      if (countFields(operation.selectionSet, context) <= rootFieldsMax) return;
      const message = `An operation has at most ${rootFieldsMax} fields at its root.`;
      context.reportError(new GraphQLError(message, { nodes: operation }));
    },
  });
}

/**
 * A fragment that is spread twice gives the same fields again, which merge: it counts once, and cycles end. The set grows while it is
 * walked, in place of recursion: a long chain of fragments does not fill the stack.
 */
function countFields(root: SelectionSetNode, context: ValidationContext): number {
  let count = 0;
  const found = new Set<SelectionSetNode | undefined>([root]);
  for (const selectionSet of found) {
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FIELD) count++;
      else found.add(selectionSetOf(selection, context));
    }
  }
  return count;
}

function selectionSetOf(node: InlineFragmentNode | FragmentSpreadNode, context: ValidationContext) {
  return node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : context.getFragment(node.name.value)?.selectionSet;
}
