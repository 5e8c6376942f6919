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
 * A validation rule of every subgraph: an operation has at most `rootFieldsMax` root fields, those in fragments included. Each root field is a
 * statement, and all of them queue for the same database connections ahead of other requests. The gateway's default limit for clients is lower.
 */
export function createRootFieldsRule(rootFieldsMax: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation: OperationDefinitionNode) {
      if (countFields(operation.selectionSet, context) <= rootFieldsMax) return;
      const message = `An operation has at most ${rootFieldsMax} root fields.`;
      context.reportError(new GraphQLError(message, { nodes: operation }));
    },
  });
}

/**
 * The fields of a fragment count once, however often it is spread, since they merge. The set therefore also ends cycles of fragments. The loop adds
 * to the set over which it iterates: recursion could overflow the stack for a long chain of fragments.
 */
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

/** Undefined for the spread of a fragment that does not exist, which another rule reports. */
function selectionSetOf(node: InlineFragmentNode | FragmentSpreadNode, context: ValidationContext) {
  if (node.kind === Kind.INLINE_FRAGMENT) return node.selectionSet;
  return context.getFragment(node.name.value)?.selectionSet;
}
