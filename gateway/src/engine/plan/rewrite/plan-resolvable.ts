// Plans operations with fields that no subgraph can resolve, for which Apollo's query planner throws. Composition rejects most supergraphs with such
// fields, but not all.
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, type SelectionNode } from "graphql";
import { typenameField } from "../normalize/normalize.ts";
import { withSelections } from "../normalize/resolve-conditions.ts";

type Plan = (operation: OperationDefinitionNode) => QueryPlan;

const attemptsMax = 200;

/**
 * Without a node if a field is unresolvable: the whole operation is rejected, so a mutation is not executed in part.
 * @param isFieldHidden a virtual subgraph can hide the only path to a field: a chain of `@requires` through objects that lead back to the requiring
 * interface object. Then the resolvable part is planned, and each other field is FIELD_NOT_PROVIDED.
 */
export function planResolvable(operation: OperationDefinitionNode, plan: Plan, isFieldHidden: boolean): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (!isUnresolvable(error)) throw error;
    const selections = isFieldHidden ? findResolvable(operation, plan, error) : [];
    return selections.length === 0 ? { kind: "QueryPlan" } : plan(withSelections(operation, selections));
  }
}

type Wrap = (selections: readonly SelectionNode[]) => OperationDefinitionNode;

function findResolvable(operation: OperationDefinitionNode, plan: Plan, firstError: Error): readonly SelectionNode[] {
  let attempts = 0;
  return prune(operation.selectionSet.selections, (selections) => withSelections(operation, selections));

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
