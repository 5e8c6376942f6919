// The documents with which the remote looks up entities: `query ($key0: ID!) { e0: user(id: $key0) { ...Entity0 } }`.
import {
  doTypesOverlap,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isCompositeType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  parseType,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
  visit,
} from "graphql";
import type { EntityLookup } from "./lookups.ts";
import { createWeigher } from "./operation-weight.ts";

/** An entity that the remote is to look up. */
export interface EntityRequest {
  /** Its response name in the operation on the remote. */
  readonly alias: string;
  readonly type: string;
  readonly lookup: EntityLookup;
  /** For the arguments of the look-up. */
  readonly values: readonly unknown[];
  /** The `_entities` field with the selection. */
  readonly field: FieldNode;
}

interface EntityDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The aliases of the entities that it requests. */
  readonly aliases: ReadonlySet<string>;
}

export interface EntityDocumentsOptions {
  readonly api: GraphQLSchema;
  /** The gateway's operation, whose variables the selections use. */
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** Root fields beside `_entities`. */
  readonly otherRoots: readonly SelectionNode[];
  /** The response name of a `__typename` that the gateway did not select: for a look-up by an interface or a union, and in an empty selection. */
  readonly typenameAlias: string;
}

/** Weights are floating-point numbers: adding 1/50 fifty times gives slightly more than 1. */
const roundingError = 1e-9;

/** Distributes the entities over operations within the default limits of a gateway, in their order. */
export function createEntityDocuments(
  entities: readonly EntityRequest[],
  o: EntityDocumentsOptions,
): readonly EntityDocument[] {
  const fragmentOf = createFragmentCache(o);
  const weigh = createWeigher(o.fragments);
  const chunks = splitByWeight(entities, (entity) => weigh(fragmentOf(entity).selectionSet));
  if (chunks.length === 0 && o.otherRoots.length > 0) chunks.push([]);
  return chunks.map((chunk, index) => {
    const otherRoots = index === 0 ? o.otherRoots : [];
    return createDocument(chunk, fragmentOf, { ...o, otherRoots });
  });
}

/** Creates one fragment for each `_entities` field, entity type and return type of a look-up. */
function createFragmentCache(o: EntityDocumentsOptions): (entity: EntityRequest) => FragmentDefinitionNode {
  const fragmentsByKey = new Map<string, FragmentDefinitionNode>();
  return (entity) => {
    // The alias identifies the `_entities` field.
    const key = `${entity.type} ${entity.lookup.returns} ${entity.field.alias?.value ?? ""}`;
    const known = fragmentsByKey.get(key);
    if (known) return known;
    const fragment = createFragment(entity, nameFragment(o.fragments, fragmentsByKey.size), o);
    fragmentsByKey.set(key, fragment);
    return fragment;
  };
}

/** One chunk for each operation: the weights in a chunk add up to at most 1, unless it has only one entity. */
function splitByWeight(
  entities: readonly EntityRequest[],
  weightOf: (entity: EntityRequest) => number,
): EntityRequest[][] {
  const chunks: EntityRequest[][] = [];
  let chunkWeight = Infinity; // The first entity begins the first chunk.
  for (const entity of entities) {
    const weight = weightOf(entity);
    chunkWeight += weight;
    if (chunkWeight > 1 + roundingError) {
      chunks.push([]);
      chunkWeight = weight;
    }
    chunks.at(-1)?.push(entity);
  }
  return chunks;
}

function nameFragment(fragments: readonly FragmentDefinitionNode[], index: number): string {
  const isTaken = (name: string) => fragments.some((fragment) => fragment.name.value === name);
  let name = `Entity${index}`;
  while (isTaken(name)) name += "_";
  return name;
}

/** A fragment with the selection of `_entities`. Fragments that cannot apply to the look-up's type are left out: the remote would reject them. */
function createFragment(
  { field, type, lookup }: EntityRequest,
  name: string,
  { api, fragments, typenameAlias }: EntityDocumentsOptions,
): FragmentDefinitionNode {
  const conditionOf = (selection: SelectionNode): NamedTypeNode | undefined => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return selection.typeCondition;
    if (selection.kind === Kind.FIELD) return undefined;
    return fragments.find((fragment) => fragment.name.value === selection.name.value)?.typeCondition;
  };
  const restrict = ({ selections }: SelectionSetNode): SelectionSetNode => ({
    kind: Kind.SELECTION_SET,
    selections: selections.flatMap((selection): readonly SelectionNode[] => {
      const condition = conditionOf(selection)?.name.value;
      if (condition !== undefined) return canApply(api, condition, lookup.returns) ? [selection] : [];
      if (selection.kind !== Kind.INLINE_FRAGMENT) return [selection];
      // An inline fragment without a type condition, such as `... @include(if: $a) { name }`.
      const inner = restrict(selection.selectionSet);
      return inner.selections.length > 0 ? [{ ...selection, selectionSet: inner }] : [];
    }),
  });
  const { selections } = restrict(field.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] });
  const typename = toField("__typename", typenameAlias);
  const needsTypename = lookup.returns !== type || selections.length === 0;
  return {
    kind: Kind.FRAGMENT_DEFINITION,
    name: toName(name),
    typeCondition: { kind: Kind.NAMED_TYPE, name: toName(lookup.returns) },
    selectionSet: { kind: Kind.SELECTION_SET, selections: needsTypename ? [...selections, typename] : selections },
  };
}

/** Whether an object of the returned type can have the type of the condition. */
function canApply(api: GraphQLSchema, condition: string, returned: string): boolean {
  const conditionType = api.getType(condition);
  const returnedType = api.getType(returned);
  if (!isCompositeType(conditionType) || !isCompositeType(returnedType)) return false;
  return doTypesOverlap(api, conditionType, returnedType);
}

function createDocument(
  chunk: readonly EntityRequest[],
  fragmentOf: (entity: EntityRequest) => FragmentDefinitionNode,
  { operation, fragments, variables, otherRoots }: EntityDocumentsOptions,
): EntityDocument {
  const keys = createKeyVariables(operation);
  const fields = chunk.map((entity) => toLookupField(entity, fragmentOf(entity), keys.add));
  const entityFragments = [...new Set(chunk.map(fragmentOf))];
  const used = findUsed([...fields, ...otherRoots, ...entityFragments], fragments);
  const usedFragments = fragments.filter(({ name }) => used.fragments.has(name.value));
  const usedDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) =>
    used.variables.has(variable.name.value),
  );
  const unnamed: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: [...usedDefinitions, ...keys.definitions],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [...fields, ...otherRoots] },
  };
  const named = operation.name ? { ...unnamed, name: operation.name } : unnamed;
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [named, ...entityFragments, ...usedFragments],
  };
  const usedVariables = Object.entries(variables).filter(([name]) => used.variables.has(name));
  return {
    query: print(document),
    variables: { ...Object.fromEntries(usedVariables), ...keys.values },
    aliases: new Set(chunk.map(({ alias }) => alias)),
  };
}

/** Variables for the keys, with names that the operation does not have: the document is the same for all entities of a type. */
function createKeyVariables({ variableDefinitions = [] }: OperationDefinitionNode) {
  const takenNames = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const definitions: VariableDefinitionNode[] = [];
  const values: Record<string, unknown> = {};
  return {
    definitions,
    values,
    /** @returns the name of the new variable. */
    add(type: string, value: unknown): string {
      let name = `key${definitions.length}`;
      while (takenNames.has(name)) name += "_";
      const variable = { kind: Kind.VARIABLE, name: toName(name) } as const;
      definitions.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(type, { noLocation: true }) });
      values[name] = value;
      return name;
    },
  };
}

function toLookupField(
  { alias, lookup, values }: EntityRequest,
  fragment: FragmentDefinitionNode,
  addVariable: (type: string, value: unknown) => string,
): FieldNode {
  return {
    ...toField(lookup.field, alias),
    arguments: lookup.arguments.map(({ name, type }, index) => ({
      kind: Kind.ARGUMENT,
      name: toName(name),
      value: { kind: Kind.VARIABLE, name: toName(addVariable(type, values[index])) },
    })),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [{ kind: Kind.FRAGMENT_SPREAD, name: fragment.name }],
    },
  };
}

/** The names of the fragments and variables that these nodes use, also within the fragments that they spread. */
function findUsed(
  nodes: readonly (SelectionNode | FragmentDefinitionNode)[],
  definitions: readonly FragmentDefinitionNode[],
) {
  const variables = new Set<string>();
  const fragments = new Set<string>();
  const pending = [...nodes];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    visit(node, {
      Variable({ name }) {
        variables.add(name.value);
      },
      FragmentSpread({ name }) {
        if (fragments.has(name.value)) return;
        fragments.add(name.value);
        pending.push(...definitions.filter((fragment) => fragment.name.value === name.value));
      },
    });
  }
  return { variables, fragments };
}

function toField(name: string, alias: string): FieldNode {
  return { kind: Kind.FIELD, name: toName(name), alias: toName(alias) };
}

function toName(value: string) {
  return { kind: Kind.NAME, value } as const;
}
