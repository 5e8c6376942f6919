// Stage 2 of 5: parse. Checks the operation that a request chooses, and its variables.
import {
  type GraphQLError,
  GraphQLFloat,
  type GraphQLFormattedError,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  typeFromAST,
  type VariableDefinitionNode,
} from "graphql";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { maskLibraryError } from "../../errors/library-errors.ts";
import { Rejection } from "../../errors/rejections.ts";
import { locateNodes, withLocations } from "./error-locations.ts";
import type { ValidatedOperation, Variables } from "./validated-operation.ts";

const variableProblemsMax = 50;
const nameCharactersMax = 100;

/**
 * @param operation null or undefined if `operationName` chooses none.
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
  if (operationType === OperationTypeNode.SUBSCRIPTION)
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", "Subscriptions are not supported.");
  if (!schema.getRootType(operationType))
    throw new Rejection("GRAPHQL_VALIDATION_FAILED", `The schema has no ${operationType}s.`);
  return operation;
}

function describeMissing(operationName: string | undefined): string {
  if (operationName === undefined) return "The document has several operations: choose one by `operationName`.";
  return `The document has no operation named ${JSON.stringify(operationName.slice(0, nameCharactersMax))}.`;
}

const none: readonly never[] = [];
const suggestion = / ?Did you mean(.+?)\?$/s;

/**
 * Checks that the variables can be coerced (GraphQL spec, "CoerceVariableValues").
 * @param hidesSchema whether messages must suggest no names.
 * @returns the client's values, not coerced; bigints are converted if coercion rejects them. Otherwise the first 50 errors.
 */
export function readVariables(
  schema: GraphQLSchema,
  validated: ValidatedOperation,
  variables: Variables,
  hidesSchema = false,
): Variables | InvalidOperation {
  if (findProblems(schema, validated, variables).length === 0) return variables;
  const converted = convertBigInts(schema, validated, variables);
  const problems = findProblems(schema, validated, converted);
  if (problems.length === 0) return converted;
  const code = "BAD_USER_INPUT";
  // With this code no problem is a bug.
  const onBug = () => undefined;
  const errors = problems.map((problem) => {
    // As Apollo Server does for documents (`hideSchemaDetailsFromClientErrors`).
    const message = hidesSchema ? problem.message.replace(suggestion, "") : problem.message;
    return maskLibraryError({ ...problem, message, extensions: { code } }, problem, onBug);
  });
  return new InvalidOperation(errors);
}

function findProblems(
  schema: GraphQLSchema,
  { source, document, operation }: ValidatedOperation,
  variables: Variables,
): readonly GraphQLFormattedError[] {
  const { variableDefinitions = none } = operation;
  if (haveAcceptedValues(variableDefinitions, variables)) return none;
  const problems = coerce(schema, variableDefinitions, variables);
  if (problems.length === 0) return none;
  const locations = locateNodes(
    source,
    document,
    problems.flatMap((problem) => problem.nodes ?? none),
  );
  return problems.map((problem) => withLocations(problem, problem.nodes, locations));
}

function coerce(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Variables,
): readonly GraphQLError[] {
  return getVariableValues(schema, definitions, variables, { maxErrors: variableProblemsMax }).errors ?? none;
}

/** The JSON parser reads a number that a double cannot represent as a bigint. An ID becomes its digits, a Float the nearest double. */
function convertBigInts(
  schema: GraphQLSchema,
  { operation: { variableDefinitions = none } }: ValidatedOperation,
  variables: Variables,
): Variables {
  const converted = { ...variables };
  for (const { type, variable } of variableDefinitions) {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type);
    if (isInputType(inputType) && Object.hasOwn(variables, name))
      converted[name] = convertValue(variables[name], inputType);
  }
  return converted;
}

/** Recursion is safe: the JSON parser limits the depth of variables (`levelsMax` in kit/src/http/json-body.ts). */
function convertValue(value: unknown, type: GraphQLInputType): unknown {
  // First, since most values of a long list are such, and each question about the type takes several times as long.
  const isConvertible = typeof value === "bigint" || (typeof value === "object" && value !== null);
  if (!isConvertible) return value;
  if (isNonNullType(type)) return convertValue(value, type.ofType);
  if (isListType(type))
    return Array.isArray(value)
      ? value.map((entry) => convertValue(entry, type.ofType))
      : convertValue(value, type.ofType);
  if (typeof value === "bigint") {
    if (type === GraphQLID) return String(value);
    return type === GraphQLFloat ? Number(value) : value;
  }
  if (!isInputObjectType(type) || Array.isArray(value)) return value;
  const fields = type.getFields();
  const members = Object.entries(value).map(([name, member]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, field ? convertValue(member, field.type) : member];
  });
  return Object.fromEntries(members);
}

const isString = (value: unknown) => typeof value === "string";
/** Values that coercion accepts without a change. It also accepts others, such as a number for ID. */
const acceptedValues: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["ID", isString],
  ["String", isString],
  // `| 0` converts to a 32-bit integer.
  ["Int", (value) => typeof value === "number" && (value | 0) === value],
  ["Boolean", (value) => typeof value === "boolean"],
]);

/** If false, graphql-js decides, which resolves each variable's type again for each request (`bench` small: 2 % of the CPU time). */
function haveAcceptedValues(definitions: readonly VariableDefinitionNode[], variables: Variables): boolean {
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
