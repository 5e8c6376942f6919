// Stage 2 of 5: parse. The priority class of an operation under overload, computed when it is stored.
import { highestPriority, type PriorityClass } from "@tributary/kit/admission/priority";
import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";

/** The classes that subgraphs declare by `@priority`, by field name. */
export interface RootFieldPriorities {
  readonly query: ReadonlyMap<string, PriorityClass>;
  readonly mutation: ReadonlyMap<string, PriorityClass>;
}

export const noPriorities: RootFieldPriorities = { query: new Map(), mutation: new Map() };

/**
 * The highest class of the operation's root fields. Fields that `@skip` or `@include` may exclude count too. A field without a declaration is
 * critical in a mutation and normal in a query, and an introspection field is background.
 */
export function priorityOfOperation(
  { operation, selectionSet }: OperationDefinitionNode,
  document: DocumentNode,
  declared: RootFieldPriorities,
): PriorityClass {
  const isMutation = operation === OperationTypeNode.MUTATION;
  const priorities = isMutation ? declared.mutation : declared.query;
  const undeclared = isMutation ? "critical" : "normal";
  let highest: PriorityClass = "background";
  for (const name of listRootFields(selectionSet, document)) {
    const isIntrospection = name.startsWith("__");
    const priority = isIntrospection ? "background" : (priorities.get(name) ?? undeclared);
    highest = highestPriority(highest, priority);
  }
  return highest;
}

function listRootFields(selectionSet: SelectionSetNode, { definitions }: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  const unreadFragments = new Map<string, SelectionSetNode>();
  for (const node of definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) unreadFragments.set(node.name.value, node.selectionSet);
  }
  const pending = [selectionSet];
  for (const { selections } of pending) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      if (selection.kind === Kind.INLINE_FRAGMENT) pending.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD) continue;
      const fragment = unreadFragments.get(selection.name.value);
      // Each fragment is read once: fragments that each spread another fragment twice would take exponential time.
      unreadFragments.delete(selection.name.value);
      if (fragment) pending.push(fragment);
    }
  }
  return names;
}
