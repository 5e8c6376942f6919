// Stage 2 of 5: parse. Rejects numbers that a double cannot represent, in documents and in variables: the planner fails on them, and `JSON.stringify`
// writes null for Infinity.
import {
  type ASTVisitor,
  type FloatValueNode,
  getNamedType,
  GraphQLError,
  GraphQLFloat,
  type GraphQLInputType,
  type GraphQLSchema,
  type IntValueNode,
  isScalarType,
  isSpecifiedScalarType,
  type ValidationContext,
} from "graphql";

const outOfRangeMessage = "The number is out of range: a double-precision number (IEEE 754) ends at 1.8e308.";

/**
 * Validation rule for literals of type Float and of custom scalars. In graphql-js 16 `1e400` is a valid Float (Infinity), and any literal is valid
 * for a custom scalar. ValuesOfCorrectTypeRule of graphql-js covers the other types; an ID keeps all its digits.
 */
export function NumericLiteralsRule(context: ValidationContext): ASTVisitor {
  function check(node: IntValueNode | FloatValueNode): void {
    const problem = findProblem(node, context.getInputType());
    if (problem !== undefined) context.reportError(new GraphQLError(problem, { nodes: node }));
  }
  return { IntValue: check, FloatValue: check };
}

function findProblem(
  { value }: IntValueNode | FloatValueNode,
  type: GraphQLInputType | null | undefined,
): string | undefined {
  const named = getNamedType(type);
  // Within an object of a custom scalar, a value has no type, and counts as custom.
  const isCustom = !named || (isScalarType(named) && !isSpecifiedScalarType(named));
  const isChecked = isCustom || named === GraphQLFloat;
  return isChecked && !Number.isFinite(Number(value)) ? outOfRangeMessage : undefined;
}

/** Replaces `parseValue`, which a composed schema leaves at graphql-js's default. Bigints are forwarded. */
export function addRangeCheckToCustomScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isScalarType(type) && !isSpecifiedScalarType(type)) type.parseValue = parseCustomScalar;
  }
}

function parseCustomScalar(value: unknown): unknown {
  if (!isInRange(value)) throw new GraphQLError(outOfRangeMessage);
  return value;
}

/** Recursion is safe: the JSON parser limits the depth of variables (`levelsMax` in kit/src/http/json-body.ts). */
function isInRange(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isInRange);
  return true;
}
