// The planner rounds whole numbers beyond 2^53 - 1 in the arguments of custom scalars (`valueFromASTUntyped` of @apollo/federation-internals), so it
// gets strings instead of them. plan.ts turns these into numbers again in the query plan.
import { randomUUID } from "node:crypto";
import {
  type GraphQLSchema,
  getNamedType,
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
const markedInPlan = new RegExp(String.raw`\\"${mark}(-?\d+)\\"`, "g");
const mayBeBig = /\d{16}/;

export function printMarked(operation: OperationDefinitionNode, apiSchema: GraphQLSchema): string {
  const text = print(operation);
  if (!mayBeBig.test(text)) return text;
  const typeInfo = new TypeInfo(apiSchema);
  const marked = visit(
    operation,
    visitWithTypeInfo(typeInfo, {
      IntValue({ value }) {
        const type = getNamedType(typeInfo.getInputType());
        // Within an object of a custom scalar, a value has no type.
        const isCustom = !type || (isScalarType(type) && !isSpecifiedScalarType(type));
        const isMarked = isCustom && !Number.isSafeInteger(Number(value));
        return isMarked ? { kind: Kind.STRING, value: mark + value } : undefined;
      },
    }),
  );
  return print(marked);
}

export function restoreMarked(planJson: string): string {
  return planJson.replaceAll(markedInPlan, "$1");
}
