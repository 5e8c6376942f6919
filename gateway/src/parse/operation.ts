// Stage 2 of 5: parse. Chooses the operation of a document, and checks its variables.
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

/** Problems with variables that one response lists. */
const variableProblemsMax = 50;

/**
 * Rejects a request whose operationName does not choose one operation: Apollo Gateway would run the first operation, or fail with 500.
 * @throws Refusal OPERATION_RESOLUTION_FAILURE, GRAPHQL_VALIDATION_FAILED.
 */
export function requireOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode | null | undefined,
  operationName: string | undefined,
): OperationDefinitionNode {
  if (!operation) throw new Rejection("OPERATION_RESOLUTION_FAILURE", describeMissing(operationName));
  const kind = operation.operation;
  // graphql-js 16 has no rule for an operation type that the schema lacks (17 has KnownOperationTypesRule).
  if (!schema.getRootType(kind)) throw new Rejection("GRAPHQL_VALIDATION_FAILED", `The schema has no ${kind}s.`);
  if (kind === OperationTypeNode.SUBSCRIPTION)
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", "Subscriptions are not supported.");
  return operation;
}

function describeMissing(operationName: string | undefined): string {
  if (operationName === undefined) return "The document has several operations: choose one by `operationName`.";
  return `The document has no operation named ${JSON.stringify(operationName.slice(0, 100))}.`;
}

const none: readonly never[] = [];

/**
 * The errors of coercing the variables (GraphQL spec, "CoerceVariableValues"), each with its location. Stored documents have no locations,
 * so the document of a rejected request is parsed again.
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
