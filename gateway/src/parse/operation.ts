// Stage 2 of 5: parse. Checks the operation that a request chooses (for supergraph/apollo-validation.ts), and its variables (for pipeline.ts).
import {
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type VariableDefinitionNode,
} from "graphql";
import { Rejection } from "../errors/rejections.ts";
import { locateNodes, withLocations } from "./error-locations.ts";
import type { ValidatedOperation } from "./validated-operation.ts";

/** Problems with variables that one response lists. */
const variableProblemsMax = 50;
/** Limits the client's `operationName` in the message of a rejection. */
const nameCharactersMax = 100;

/**
 * Rejects a request whose `operationName` does not choose one operation, subscriptions, and operation types that the schema lacks.
 * @param operation the chosen operation; null or undefined if `operationName` chooses none.
 * @throws Rejection OPERATION_RESOLUTION_FAILURE, GRAPHQL_VALIDATION_FAILED.
 */
export function requireOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode | null | undefined,
  operationName: string | undefined,
): OperationDefinitionNode {
  if (!operation) throw new Rejection("OPERATION_RESOLUTION_FAILURE", describeMissing(operationName));
  const operationType = operation.operation;
  // graphql-js 16 has no rule for an operation type that the schema lacks (17 has KnownOperationTypesRule).
  if (!schema.getRootType(operationType))
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", `The schema has no ${operationType}s.`);
  if (operationType === OperationTypeNode.SUBSCRIPTION)
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", "Subscriptions are not supported.");
  return operation;
}

function describeMissing(operationName: string | undefined): string {
  if (operationName === undefined) return "The document has several operations: choose one by `operationName`.";
  return `The document has no operation named ${JSON.stringify(operationName.slice(0, nameCharactersMax))}.`;
}

const none: readonly never[] = [];

/**
 * The first 50 errors of coercing the variables (GraphQL spec, "CoerceVariableValues"), each with its location. Empty if the variables are valid.
 * The coerced values are not returned: subgraphs get the values that the client sent.
 */
export function findVariableProblems(
  schema: GraphQLSchema,
  { source, document, operation }: ValidatedOperation,
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLFormattedError[] {
  const { variableDefinitions = none } = operation;
  if (haveAcceptedValues(variableDefinitions, variables)) return none;
  const problems = readVariables(schema, variableDefinitions, variables);
  if (problems.length === 0) return none;
  const locations = locateNodes(
    source,
    document,
    problems.flatMap((problem) => problem.nodes ?? none),
  );
  return problems.map((problem) => withLocations(problem, problem.nodes, locations));
}

function readVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  return getVariableValues(schema, definitions, variables, { maxErrors: variableProblemsMax }).errors ?? none;
}

const isString = (value: unknown) => typeof value === "string";
/** By name of a built-in scalar: values that coercion accepts without a change. Coercion also accepts other values, such as a number for ID. */
const acceptedValues: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["ID", isString],
  ["String", isString],
  // `| 0` converts to a 32-bit integer.
  ["Int", (value) => typeof value === "number" && (value | 0) === value],
  ["Boolean", (value) => typeof value === "boolean"],
]);

/**
 * Whether each variable is in `acceptedValues`, or nullable and null or absent. If false, graphql-js decides. Most requests need only this check,
 * and graphql-js resolves the type of each variable again for each request (`bench` small: 2 % of the CPU time).
 */
function haveAcceptedValues(
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): boolean {
  for (const { type, variable } of definitions) {
    const isRequired = type.kind === Kind.NON_NULL_TYPE;
    const nullableType = isRequired ? type.type : type;
    const name = variable.name.value;
    const value = Object.hasOwn(variables, name) ? variables[name] : null;
    if (value === null && !isRequired) continue;
    if (nullableType.kind !== Kind.NAMED_TYPE) return false;
    const isAccepted = acceptedValues.get(nullableType.name.value);
    if (isAccepted === undefined || !isAccepted(value)) return false;
  }
  return true;
}
