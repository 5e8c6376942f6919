// Stage 2 of 5: what do you ask? The one operation to run, and its variables.
import {
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type VariableDefinitionNode,
} from "graphql";
import { Rejection } from "../errors/rejections.ts";
import type { ValidatedOperation } from "./validated-operation.ts";

/** So many problems with variables are told at once. */
const variableProblemsMax = 50;

/**
 * A document without such an operation must not reach the engine: stock Apollo would run the first one, or fail with 500.
 * @throws Refusal OPERATION_RESOLUTION_FAILURE, GRAPHQL_VALIDATION_FAILED.
 */
export function requireOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode | null | undefined,
  operationName: string | undefined,
): OperationDefinitionNode {
  if (!operation) throw new Rejection("OPERATION_RESOLUTION_FAILURE", describeMissing(operationName));
  const kind = operation.operation;
  // graphql-js 16 has no rule for a kind that the schema lacks (KnownOperationTypesRule comes with 17).
  if (!schema.getRootType(kind)) throw new Rejection("GRAPHQL_VALIDATION_FAILED", `The schema has no ${kind}s.`);
  if (kind === OperationTypeNode.SUBSCRIPTION)
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", "Subscriptions are not served here.");
  return operation;
}

function describeMissing(operationName: string | undefined): string {
  if (operationName === undefined) return "The document holds several operations: say which by `operationName`.";
  return `The document has no operation named ${JSON.stringify(operationName.slice(0, 100))}.`;
}

const none: readonly never[] = [];

/**
 * What is wrong with the variables (GraphQL spec, "CoerceVariableValues"), each with its place; empty when nothing is. Documents are kept
 * without their locations: for a request that is refused, its document is read again.
 */
export function findVariableProblems(
  schema: GraphQLSchema,
  { source, operation }: ValidatedOperation,
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const { variableDefinitions = none } = operation;
  if (variableDefinitions.length === 0) return none;
  if (readVariables(schema, variableDefinitions, variables).length === 0) return none;
  const located = getOperationAST(parse(source), operation.name?.value) ?? operation;
  return readVariables(schema, located.variableDefinitions ?? none, variables);
}

function readVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  return getVariableValues(schema, definitions, variables, { maxErrors: variableProblemsMax }).errors ?? none;
}
