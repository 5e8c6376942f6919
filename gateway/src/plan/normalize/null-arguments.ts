// Finds nulls in non-null arguments. Validation permits a nullable variable there if it or the argument has a default (GraphQL spec,
// "IsVariableUsageAllowed"), but a request can send null. The field is then an error (GraphQL spec, "CoerceArgumentValues"). plan.ts asks for the
// variables once per operation, normalize.ts for the fields of one variant.
import {
  type ASTNode,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { Rejection } from "../../errors/rejections.ts";
import { fragmentsOf, isCondition } from "./resolve-conditions.ts";

/** The nullable variables in non-null arguments of the operation and its fragments. Conditions have rules of their own (resolve-conditions.ts). */
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
  const fragments = fragmentsOf(document);
  const reached = new Set<ExecutableDefinitionNode>([operation]);
  const add = (name: string) => {
    if (nullableNames.has(name)) names.add(name);
  };
  // The loop also visits the fragments that it adds to the set.
  for (const definition of reached) {
    visitNonNullUses(definition, schema, add);
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (fragment) reached.add(fragment);
      },
    });
  }
  return [...names];
}

/**
 * The fields of which a non-null argument, or a non-null part of an argument, is one of the variables.
 * @param client with conditions and named fragments resolved.
 * @param nullVariables the names of variables that are null.
 * @throws Rejection BAD_USER_INPUT if an argument of a directive is one of them, as for a condition: an error of a directive has no path.
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
