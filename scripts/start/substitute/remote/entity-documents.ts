// The documents with which the remote looks up entities: `query ($substitute_key0: ID!) { e0: user(id: $substitute_key0) { ...Substitute0 } }`.
import {
  doTypesOverlap,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  separateOperations,
  visit,
} from "graphql";
import type { EntityLookup } from "./lookups.ts";

export interface EntityRequest {
  /** Its response name in the operation on the remote. */
  readonly alias: string;
  readonly type: string;
  readonly lookup: EntityLookup;
  readonly values: readonly unknown[];
  /** The `_entities` field with the selection. */
  readonly field: FieldNode;
}

interface EntityDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly aliases: ReadonlySet<string>;
}

export interface EntityDocumentsOptions {
  readonly api: GraphQLSchema;
  /** The gateway's operation, whose variables the selections use. */
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly otherRoots: readonly SelectionNode[];
}

/** A fragment with the selection of an entity, and the share of a gateway's limits that one look-up with it uses. */
interface EntityFragment {
  readonly name: string;
  readonly text: string;
  readonly weight: number;
}

/** The response name of a `__typename` that the gateway did not select: for a look-up by an interface or a union, and in an empty selection. */
export const typenameAlias = "substitute_typename";
/** The default limits of a gateway (gateway/src/config.ts). A remote with lower limits rejects the operation with its code. */
const limits = { rootFields: 50, aliases: 200, selections: 2_000, directives: 200 };
/** Weights are floating-point numbers: adding 1/50 fifty times gives slightly more than 1. */
const roundingError = 1e-9;

/** Distributes the entities over operations within the limits, in their order. */
export function createEntityDocuments(
  entities: readonly EntityRequest[],
  o: EntityDocumentsOptions,
): readonly EntityDocument[] {
  const fragments = new Map<string, EntityFragment>();
  const fragmentOf = (entity: EntityRequest): EntityFragment => {
    // The alias identifies the `_entities` field.
    const key = `${entity.type} ${entity.lookup.returns} ${entity.field.alias?.value ?? ""}`;
    const fragment = fragments.get(key) ?? createFragment(entity, `Substitute${fragments.size}`, o);
    fragments.set(key, fragment);
    return fragment;
  };
  const chunks: EntityRequest[][] = o.otherRoots.length > 0 ? [[]] : [];
  let weight = chunks.length === 0 ? Infinity : 0;
  for (const entity of entities) {
    weight += fragmentOf(entity).weight;
    if (weight > 1 + roundingError) {
      chunks.push([]);
      weight = fragmentOf(entity).weight;
    }
    chunks.at(-1)?.push(entity);
  }
  return chunks.map((chunk, index) => createDocument(chunk, fragmentOf, index === 0 ? o : { ...o, otherRoots: [] }));
}

/** Fragments that cannot apply to the look-up's type are left out: the remote would reject them. */
function createFragment(
  { field, type, lookup }: EntityRequest,
  name: string,
  o: EntityDocumentsOptions,
): EntityFragment {
  const spreadOf = (name: string) => o.fragments.find((fragment) => fragment.name.value === name);
  const restrict = ({ selections }: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: selections.flatMap((selection): readonly SelectionNode[] => {
      if (selection.kind === Kind.FIELD) return [selection];
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const { typeCondition } = isSpread ? (spreadOf(selection.name.value) ?? {}) : selection;
      if (typeCondition) return canApply(o.api, typeCondition.name.value, lookup.returns) ? [selection] : [];
      if (isSpread) return [];
      // An inline fragment without a type condition, such as `... @include(if: $a) { name }`.
      const inner = restrict(selection.selectionSet);
      return inner.selections.length > 0 ? [{ ...selection, selectionSet: inner }] : [];
    }),
  });
  const weigh = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = isSpread ? spreadOf(selection.name.value)?.selectionSet : selection.selectionSet;
      const aliases = selection.kind === Kind.FIELD && selection.alias ? 1 : 0;
      const directives = selection.directives?.length ?? 0;
      const own = 1 / limits.selections + aliases / limits.aliases + directives / limits.directives;
      return sum + own + (inner ? weigh(inner) : 0);
    }, 0);
  const selection = restrict(field.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] });
  const needsTypename = lookup.returns !== type || selection.selections.length === 0;
  const fields = selection.selections.map((part) => print(part));
  if (needsTypename) fields.push(`${typenameAlias}: __typename`);
  // The look-up itself, `e0: user(id: $id) { ...Substitute0 }`, has one alias and two selections.
  const weight = weigh(selection) + 1 / limits.aliases + 2 / limits.selections;
  return {
    name,
    text: `fragment ${name} on ${lookup.returns} { ${fields.join(" ")} }`,
    weight: Math.max(1 / limits.rootFields, weight),
  };
}

function canApply(api: GraphQLSchema, condition: string, returned: string): boolean {
  const conditionType = api.getType(condition);
  const returnedType = api.getType(returned);
  if (!isCompositeType(conditionType) || !isCompositeType(returnedType)) return false;
  return doTypesOverlap(api, conditionType, returnedType);
}

/** The keys are variables, so that the document is the same for all entities of a type. */
function createDocument(
  chunk: readonly EntityRequest[],
  fragmentOf: (entity: EntityRequest) => EntityFragment,
  { operation, fragments, variables, otherRoots }: EntityDocumentsOptions,
): EntityDocument {
  const name = operation.name?.value ?? "";
  const definitions = (operation.variableDefinitions ?? []).map((definition) => print(definition));
  const keys: Record<string, unknown> = {};
  const roots = chunk.map((entity) => {
    const args = entity.lookup.arguments.map((argument, index) => {
      const variable = `substitute_key${Object.keys(keys).length}`;
      keys[variable] = entity.values[index];
      definitions.push(`$${variable}: ${argument.type}`);
      return `${argument.name}: $${variable}`;
    });
    return `${entity.alias}: ${entity.lookup.field}(${args.join(", ")}) { ...${fragmentOf(entity).name} }`;
  });
  roots.push(...otherRoots.map((root) => print(root)));
  const head = definitions.length > 0 ? `query ${name}(${definitions.join(", ")})` : `query ${name}`;
  const entityFragments = new Set(chunk.map((entity) => fragmentOf(entity).text));
  const text = [`${head} { ${roots.join(" ")} }`, ...entityFragments, ...fragments.map((fragment) => print(fragment))];
  const { query, usedVariables } = withoutUnused(text.join("\n"), name);
  const used = Object.entries({ ...variables, ...keys }).filter(([variable]) => usedVariables.has(variable));
  return { query, variables: Object.fromEntries(used), aliases: new Set(chunk.map(({ alias }) => alias)) };
}

/** Removes fragments that the operation does not spread, then variables that it does not use: validation would reject both. */
function withoutUnused(text: string, name: string) {
  const document = separateOperations(parse(text, { noLocation: true }))[name] as DocumentNode;
  const usedVariables = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: (variable) => void usedVariables.add(variable.name.value),
  });
  const query = print(
    visit(document, {
      VariableDefinition: ({ variable }) => (usedVariables.has(variable.name.value) ? undefined : null),
    }),
  );
  return { query, usedVariables };
}
