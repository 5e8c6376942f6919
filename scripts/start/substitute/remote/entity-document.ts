// The document with which the remote looks up entities: `query ($substitute_key0: ID!) { e0: user(id: $substitute_key0) { … } }`.
import {
  type DocumentNode,
  doTypesOverlap,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isCompositeType,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  separateOperations,
  visit,
} from "graphql";
import type { SubgraphOperation } from "../graphql-messages.ts";
import type { EntityLookup } from "./lookups.ts";

/** An operation of the gateway, whose variables and fragments the selections use. */
export interface GatewayOperation {
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface EntityRequest {
  readonly type: string;
  readonly lookup: EntityLookup;
  readonly values: readonly unknown[];
}

/** The response name of a `__typename` that the gateway did not select: a look-up by an interface or a union may return another type. */
export const typenameAlias = "substitute_typename";

/** The entity with the index 2 has the response name `e2`. The keys are variables, so that the document is the same for all entities of a type. */
export function writeEntityDocument(
  entities: readonly EntityRequest[],
  selectionSet: SelectionSetNode,
  source: GatewayOperation,
  api: GraphQLSchema,
): SubgraphOperation {
  const definitions: string[] = [];
  const keys: Record<string, unknown> = {};
  const roots = entities.map(({ lookup, values }, index) => {
    const args = lookup.arguments.map((argument, position) => {
      const variable = `substitute_key${definitions.length}`;
      keys[variable] = values[position];
      definitions.push(`$${variable}: ${argument.type}`);
      return `${argument.name}: $${variable}`;
    });
    return `e${index}: ${lookup.field}(${args.join(", ")}) { ...On${lookup.returns} }`;
  });
  const fragments = [...new Set(entities.map(({ lookup }) => lookup.returns))].map((returned) => {
    const { selections } = restrict(selectionSet, returned, source, api);
    return `fragment On${returned} on ${returned} { ${selections.map(print).join(" ")} ${typenameAlias}: __typename }`;
  });
  return writeDocument(source, { roots, definitions, fragments, keys });
}

interface DocumentParts {
  readonly roots: readonly string[];
  readonly definitions?: readonly string[];
  readonly fragments?: readonly string[];
  readonly keys?: Readonly<Record<string, unknown>>;
}

/** Without fragments that the operation does not spread, and variables that it does not use: validation would reject both. */
export function writeDocument(
  { operation, fragments: spread, variables }: GatewayOperation,
  { roots, definitions = [], fragments = [], keys = {} }: DocumentParts,
): SubgraphOperation {
  const name = operation.name?.value ?? "";
  const allDefinitions = [...(operation.variableDefinitions ?? []).map(print), ...definitions];
  const head = allDefinitions.length > 0 ? `query ${name}(${allDefinitions.join(", ")})` : `query ${name}`;
  const text = [`${head} { ${roots.join(" ")} }`, ...fragments, ...spread.map(print)].join("\n");
  const document = separateOperations(parse(text, { noLocation: true }))[name] as DocumentNode;
  const used = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: (variable) => void used.add(variable.name.value),
  });
  const isUnused = (variable: string) => !used.has(variable);
  const query = print(
    visit(document, { VariableDefinition: ({ variable }) => (isUnused(variable.name.value) ? null : undefined) }),
  );
  const usedVariables = Object.entries({ ...variables, ...keys }).filter(([variable]) => used.has(variable));
  return { query, variables: Object.fromEntries(usedVariables) };
}

/** Leaves out fragments that cannot apply to the returned type: the remote would reject them. */
function restrict(
  selectionSet: SelectionSetNode,
  returned: string,
  { fragments }: GatewayOperation,
  api: GraphQLSchema,
): SelectionSetNode {
  const returnedType = api.getType(returned);
  const removeForeign = (condition: string | undefined) => {
    const type = api.getType(condition ?? returned);
    const canApply = isCompositeType(type) && isCompositeType(returnedType) && doTypesOverlap(api, type, returnedType);
    return canApply ? undefined : null;
  };
  return visit(selectionSet, {
    Field: () => false,
    FragmentSpread: ({ name }) =>
      removeForeign(fragments.find((fragment) => fragment.name.value === name.value)?.typeCondition.name.value),
    InlineFragment: {
      enter: ({ typeCondition }) => removeForeign(typeCondition?.name.value),
      leave: (node) => (node.selectionSet.selections.length === 0 ? null : undefined),
    },
  });
}
