// The planner rounds numbers in the arguments of custom scalars to doubles (`valueFromASTUntyped` of @apollo/federation-internals), so it gets strings
// instead of those with many digits. plan.ts turns these into numbers again in the query plan.
import { randomUUID } from "node:crypto";
import {
  type GraphQLSchema,
  type FloatValueNode,
  getNamedType,
  type IntValueNode,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** Random, so that no string of a client begins with it by intention. */
const mark = randomUUID();
const markedInPlan = new RegExp(String.raw`\\"${mark}(-?\d[\d.eE+-]*)\\"`, "g");
/** A double has at least 15 exact digits, and no exponent of more than three. */
const mayBeInexact = /[\d.]{16}|\de[+-]?\d{3}/i;

export function printMarked(operation: OperationDefinitionNode, apiSchema: GraphQLSchema): string {
  const text = print(operation);
  if (!mayBeInexact.test(text)) return text;
  const typeInfo = new TypeInfo(apiSchema);
  const markInexact = ({ value }: IntValueNode | FloatValueNode) => {
    if (!mayBeInexact.test(value)) return undefined;
    const type = getNamedType(typeInfo.getInputType());
    // Within an object of a custom scalar, a value has no type.
    const isCustom = !type || (isScalarType(type) && !isSpecifiedScalarType(type));
    return isCustom ? { kind: Kind.STRING, value: mark + value } : undefined;
  };
  const marking = visitWithTypeInfo(typeInfo, { IntValue: markInexact, FloatValue: markInexact });
  return print(visit(operation, marking));
}

export function restoreMarked(planJson: string): string {
  return planJson.replaceAll(markedInPlan, "$1");
}
