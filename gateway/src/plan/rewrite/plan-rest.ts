// Stage 3 of 5: how to answer? What of an operation can be planned is, when a branch of it cannot for a reason of our own.
import type { QueryPlan } from "@apollo/query-planner";
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode } from "graphql";
import { isUnresolvable } from "./plan-resolvable.ts";

type Plan = (operation: OperationDefinitionNode) => QueryPlan;
type Wrap = (selections: readonly SelectionNode[]) => OperationDefinitionNode;

/** Each is a planning of a part of the operation. */
const attemptsMax = 200;

/**
 * Virtual subgraphs can take from the planner the only way that it had to a field (a chain of `@requires` through objects
 * that lead to the interface object which requires them). That is no reason to refuse the operation: the rest is answered, and the field
 * is missing, which is an error there.
 * @throws Error as the planner does, also when the operation has too many parts to find them.
 */
export function planRest(operation: OperationDefinitionNode, plan: Plan): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (!isUnresolvable(error)) throw error;
    const selections = findResolvable(operation, plan, error);
    return selections.length === 0 ? { kind: "QueryPlan" } : plan(withSelections(operation, selections));
  }
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
