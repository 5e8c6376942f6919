// Finds nulls in non-null arguments. Validation permits a nullable variable there if it or the argument has a default (GraphQL spec,
// "IsVariableUsageAllowed"); with null, the field is an error ("CoerceArgumentValues").
import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { Rejection } from "../../../errors/rejections.ts";
import { isCondition, listReached } from "./resolve-conditions.ts";

/** Conditions have rules of their own (resolve-conditions.ts). */
export function listStrictVariables(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  schema: GraphQLSchema,
): readonly string[] {
  const { variableDefinitions = [] } = operation;
  const nullable = variableDefinitions.filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
  if (nullable.length === 0) return [];
  const nullableNames = new Set(nullable.map(({ variable }) => variable.name.value));
  const names = new Set<string>();
  for (const definition of listReached(document, operation)) {
    visitNonNullUses(definition, schema, (name) => {
      if (nullableNames.has(name)) names.add(name);
    });
  }
  return [...names];
}

/**
 * @param client with conditions and named fragments resolved.
 * @throws Rejection BAD_USER_INPUT for an argument of a directive, as for a condition: its error has no path.
 */
export function findRejectedFields(
  client: OperationDefinitionNode,
  nullVariables: ReadonlySet<string>,
  schema: GraphQLSchema,
): ReadonlySet<FieldNode> {
  const rejected = new Set<FieldNode>();
  if (nullVariables.size === 0) return rejected;
  visitNonNullUses(client, schema, (name, field, directiveName) => {
    if (!nullVariables.has(name)) return;
    if (directiveName !== undefined)
      throw new Rejection("BAD_USER_INPUT", `An argument of @${directiveName} must not be null.`);
    if (field) rejected.add(field);
  });
  return rejected;
}

/** @param directiveName undefined in an argument of the field. */
type VisitUse = (variable: string, field: FieldNode | undefined, directiveName: string | undefined) => void;

function visitNonNullUses(node: ASTNode, schema: GraphQLSchema, visitUse: VisitUse): void {
  const types = new TypeInfo(schema);
  // The arguments of a field are visited before the fields below it.
  let field: FieldNode | undefined;
  const visitor = visitWithTypeInfo(types, {
    Field(entered) {
      field = entered;
    },
    Directive: (directive) => (isCondition(directive) ? false : undefined),
    Variable({ name }) {
      if (isNonNullType(types.getInputType())) visitUse(name.value, field, types.getDirective()?.name);
    },
  });
  visit(node, visitor);
}
