// Stage 3 of 5: how to answer? Operations that cannot be answered, told from those that the planner fails for.
import type { QueryPlan } from "@apollo/query-planner";
import type { OperationDefinitionNode } from "graphql";

/**
 * Composition refuses most supergraphs in which a field cannot be reached, but lets some pass, and that of others more; here the planner
 * finds no way.
 * @returns a plan without a node for an operation with such a field. Nothing of it is sent: of a mutation not the half that could be.
 * @throws Error as the planner does for any other reason.
 */
export function planResolvable(
  operation: OperationDefinitionNode,
  plan: (operation: OperationDefinitionNode) => QueryPlan,
): QueryPlan {
  try {
    return plan(operation);
  } catch (error) {
    if (isUnresolvable(error)) return { kind: "QueryPlan" };
    throw error;
  }
}

/** The planner has no codes. The second and third it says where types that subgraphs know as interface objects lead nowhere. */
const unresolvable = [
  /^Was not able to (?:find any options for|plan mutation) /,
  /that is potentially an interface object type at runtime$/,
  /^Subgraph .+ has no entities defined$/,
];

export function isUnresolvable(error: unknown): error is Error {
  return error instanceof Error && unresolvable.some((words) => words.test(error.message));
}
