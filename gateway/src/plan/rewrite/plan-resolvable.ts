// Stage 3 of 5: how to answer? What of an operation can be planned is, when a branch of it cannot.
import type { QueryPlan } from "@apollo/query-planner";
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode } from "graphql";

type Plan = (operation: OperationDefinitionNode) => QueryPlan;
type Wrap = (selections: readonly SelectionNode[]) => OperationDefinitionNode;

/** Each is a planning of a part of the operation. */
const attemptsMax = 200;

/**
 * Composition of Apollo's refuses most supergraphs in which a field cannot be reached; others let them pass, and here the planner gives
 * up the whole operation. Without the fields that cannot be reached the rest is answered, and they are missing: an error each.
 * @throws Error as the planner does, also when the operation has too many parts to find them.
 */
export function planResolvable(operation: OperationDefinitionNode, plan: Plan): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (!isUnresolvable(error)) throw error;
    const selections = findResolvable(operation, plan, error);
    return selections.length === 0 ? { kind: "QueryPlan" } : plan(withSelections(operation, selections));
  }
}

/** The planner has no codes. The second and third it says where types that subgraphs know as interface objects lead nowhere. */
const unresolvable = [
  /^Was not able to find any options for /,
  /that is potentially an interface object type at runtime$/,
  /^Subgraph .+ has no entities defined$/,
];

function isUnresolvable(error: unknown): error is Error {
  return error instanceof Error && unresolvable.some((words) => words.test(error.message));
}

function findResolvable(operation: OperationDefinitionNode, plan: Plan, original: Error): readonly SelectionNode[] {
  let attempts = 0;
  return prune(operation.selectionSet.selections, (selections) => withSelections(operation, selections));

  function prune(selections: readonly SelectionNode[], wrap: Wrap): readonly SelectionNode[] {
    return selections.flatMap((selection) => {
      if (canPlan(wrap([selection]))) return [selection];
      if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) return [];
      const inner = prune(selection.selectionSet.selections, (below) => wrap([withSelections(selection, below)]));
      if (inner.length > 0) return [withSelections(selection, inner)];
      const bare = withSelections(selection, [typenameField]);
      return selection.kind === Kind.FIELD && canPlan(wrap([bare])) ? [bare] : [];
    });
  }

  function canPlan(part: OperationDefinitionNode): boolean {
    if (++attempts > attemptsMax) throw original;
    try {
      plan(part);
      return true;
    } catch (error) {
      if (isUnresolvable(error)) return false;
      throw error;
    }
  }
}

const typenameField: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };

function withSelections<N extends OperationDefinitionNode | SelectionNode>(
  node: N,
  selections: readonly SelectionNode[],
): N {
  return { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections } };
}
