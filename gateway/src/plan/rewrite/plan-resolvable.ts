// Plans operations that may have fields which no subgraph can resolve: Apollo's query planner throws for these. Composition rejects most supergraphs
// with unresolvable fields, but not all of them. query-planner.ts calls one of the two exported functions for each operation.
import type { QueryPlan } from "@apollo/query-planner";
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode } from "graphql";

type Plan = (operation: OperationDefinitionNode) => QueryPlan;

/**
 * Returns a plan without a node if the operation has an unresolvable field. The whole operation is then rejected, so a mutation is not executed in
 * part. For supergraphs without virtual subgraphs.
 * @throws Error as the planner does for any other reason.
 */
export function planIfResolvable(operation: OperationDefinitionNode, plan: Plan): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (isUnresolvable(error)) return { kind: "QueryPlan" };
    throw error;
  }
}

/** The most parts of an operation that `planResolvableParts` tries to plan. */
const attemptsMax = 200;

/**
 * Plans the resolvable part of the operation. The plan lacks the other fields; each is a FIELD_NOT_PROVIDED error when the response is written. The
 * plan has no node if no part is resolvable. Only for supergraphs with virtual subgraphs: a virtual subgraph can hide the only path to a field, which
 * is no reason to reject the whole operation. An example is a chain of `@requires` through objects that lead back to the requiring interface object.
 * @throws Error as the planner does, also if the operation has too many parts.
 */
export function planResolvableParts(operation: OperationDefinitionNode, plan: Plan): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (!isUnresolvable(error)) throw error;
    const selections = findResolvable(operation, plan, error);
    return selections.length === 0 ? { kind: "QueryPlan" } : plan(withSelections(operation, selections));
  }
}

/** Puts selections into the operation, inside the fields and fragments that surround them. */
type Wrap = (selections: readonly SelectionNode[]) => OperationDefinitionNode;

/** Finds the resolvable selections, by planning smaller and smaller parts. @throws `firstError` after `attemptsMax` parts. */
function findResolvable(operation: OperationDefinitionNode, plan: Plan, firstError: Error): readonly SelectionNode[] {
  let attempts = 0;
  return prune(operation.selectionSet.selections, (selections) => withSelections(operation, selections));

  /** The selections without their unresolvable parts. Selections of which no part is resolvable are left out. */
  function prune(selections: readonly SelectionNode[], wrap: Wrap): readonly SelectionNode[] {
    return selections.flatMap((selection) => {
      if (canPlan(wrap([selection]))) return [selection];
      if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) return [];
      const wrapInner: Wrap = (selected) => wrap([withSelections(selection, selected)]);
      const resolvable = prune(selection.selectionSet.selections, wrapInner);
      if (resolvable.length > 0) return [withSelections(selection, resolvable)];
      if (selection.kind !== Kind.FIELD) return [];
      // The field itself may be resolvable, although no field that is selected in it is.
      const withTypename = withSelections(selection, [typenameField]);
      return canPlan(wrap([withTypename])) ? [withTypename] : [];
    });
  }

  function canPlan(part: OperationDefinitionNode): boolean {
    attempts++;
    if (attempts > attemptsMax) throw firstError;
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

/** The planner's errors have no codes. Except the first message, all are for types that subgraphs know as interface objects. */
const unresolvableMessages = [
  /^Was not able to (?:find any options for|plan mutation) /,
  /that is potentially an interface object type at runtime$/,
  /^Subgraph .+ has no entities defined$/,
  /^Cannot add fragment of condition .+ to parent type /,
];

function isUnresolvable(error: unknown): error is Error {
  return error instanceof Error && unresolvableMessages.some((pattern) => pattern.test(error.message));
}
