// Stage 2 of 5: what do you ask? The one operation to run, and its variables.
import { type GraphQLError, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from "graphql";
import { Refusal } from "../errors.ts";

/** So many problems with variables are told at once. */
const variableProblemsMax = 50;

/**
 * A document without such an operation must not reach the engine: stock Apollo would run the first one, or fail with 500.
 * @throws Refusal OPERATION_RESOLUTION_FAILURE.
 */
export function requireOperation(
  operation: OperationDefinitionNode | null | undefined,
  operationName: string | undefined,
): OperationDefinitionNode {
  if (operation) return operation;
  throw new Refusal(
    "OPERATION_RESOLUTION_FAILURE",
    operationName === undefined
      ? "The document holds several operations: say which by `operationName`."
      : `The document has no operation named ${JSON.stringify(operationName.slice(0, 100))}.`,
  );
}

/** What is wrong with the variables (GraphQL spec, "CoerceVariableValues"); empty when nothing is. */
export function findVariableProblems(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const definitions = operation.variableDefinitions ?? [];
  return getVariableValues(schema, definitions, variables, { maxErrors: variableProblemsMax }).errors ?? [];
}
