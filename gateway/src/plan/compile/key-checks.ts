// Stage 3 of 5: plan. Key fields that entities must return with the values by which they were requested, so that another entity is detected.
import type { FetchNode } from "@apollo/query-planner";
import {
  type FieldNode,
  getNullableType,
  type InlineFragmentNode,
  isEnumType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  Kind,
  type NameNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import type { KeyCheck, ObjectLayout } from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** A key field of the entities of one fetch. */
export interface CheckedKey {
  /** The type condition of the fragments that select it. */
  readonly typeCondition: string;
  readonly name: string;
  readonly responseName: string;
  /** The plan does not select it: the gateway adds it to the fetch. */
  readonly isAdded: boolean;
  /** False for a type whose values a subgraph may normalize, see `KeyCheck`. */
  readonly isExact: boolean;
}

export interface KeyCheckOptions {
  readonly types: SupergraphTypes;
  readonly aliasPrefix: string;
  /** False for a subgraph whose keys are neither added nor checked. */
  readonly checksKeys: (service: string) => boolean;
}

/**
 * Types of entities at whose added keys a subgraph has reported an error: their keys are no longer added to its fetches. Of one generation;
 * at most one entry for each subgraph and entity type of the supergraph.
 */
export interface StoppedKeyChecks {
  /** The number of entries. */
  readonly count: number;
  has(service: string, typeCondition: string): boolean;
  /** Returns false if there is such an entry already. */
  add(service: string, typeCondition: string): boolean;
}

export function createStoppedKeyChecks(): StoppedKeyChecks {
  const entries = new Set<string>();
  // No type name has a space.
  const toEntry = (service: string, typeCondition: string) => `${typeCondition} ${service}`;
  return {
    get count() {
      return entries.size;
    },
    has: (service, typeCondition) => entries.has(toEntry(service, typeCondition)),
    add: (service, typeCondition) => entries.size < entries.add(toEntry(service, typeCondition)).size,
  };
}

/**
 * An added key has an alias of its own for each type condition, so that it merges with no other selection of the fetch, whatever their types
 * (GraphQL spec, 5.3.2 "Field Selection Merging"). The prefix with the digit 0 begins no client's alias, see planner-keys.ts.
 * @param selected by the plan, of the entities.
 */
export function createCheckedKeys(
  node: FetchNode,
  selected: SelectionSetNode,
  o: KeyCheckOptions,
): readonly CheckedKey[] {
  const keys = o.checksKeys(node.serviceName) ? findKeys(node, o.types) : [];
  const typeConditions = [...new Set(keys.map(({ typeCondition }) => typeCondition))];
  const distinct = new Map(keys.map((key) => [`${key.typeCondition}.${key.name}`, key]));
  return [...distinct.values()].map((key) => {
    const isAdded = !selectsPlainly(selected, key);
    const alias = `${o.aliasPrefix}0_${typeConditions.indexOf(key.typeCondition)}_${key.name}`;
    return { ...key, isAdded, responseName: isAdded ? alias : key.name };
  });
}

type Key = Pick<CheckedKey, "typeCondition" | "name" | "isExact">;

/** The fields at the top of a representation that are keys in this subgraph. */
function findKeys({ requires = [], serviceName }: FetchNode, types: SupergraphTypes): readonly Key[] {
  return requires.flatMap((fragment) => {
    if (fragment.kind !== "InlineFragment" || fragment.typeCondition === undefined) return [];
    const { typeCondition, selections } = fragment;
    const names = types.keyFields(serviceName, typeCondition);
    return selections.flatMap((selection) => {
      if (selection.kind !== "Field" || selection.selections || !names.has(selection.name)) return [];
      const type = findComparableType(types, typeCondition, selection.name);
      return type ? { typeCondition, name: selection.name, isExact: exactTypes.has(type.name) } : [];
    });
  });
}

const exactTypes: ReadonlySet<string> = new Set(["ID", "Int"]);

/** The type of a key whose values can be compared as text; only a subgraph knows which values of a custom scalar are equal. */
function findComparableType({ schema }: SupergraphTypes, typename: string, fieldName: string) {
  const type = schema.getType(typename);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[fieldName] : undefined;
  const leaf = field?.args.length === 0 ? getNullableType(field.type) : undefined;
  return isEnumType(leaf) || (isScalarType(leaf) && (leaf.name === "String" || exactTypes.has(leaf.name)))
    ? leaf
    : undefined;
}

/** Whether a fragment of this type selects the field without alias and directives. */
function selectsPlainly({ selections }: SelectionSetNode, { typeCondition, name }: Key): boolean {
  return selections.some(
    (fragment) =>
      isFragmentOf(fragment, typeCondition) &&
      fragment.selectionSet.selections.some(
        (field) => field.kind === Kind.FIELD && field.name.value === name && !field.alias && !field.directives?.length,
      ),
  );
}

function isFragmentOf(selection: SelectionNode, typeCondition: string): selection is InlineFragmentNode {
  return selection.kind === Kind.INLINE_FRAGMENT && selection.typeCondition?.name.value === typeCondition;
}

/** @param keys are selected by the fragments of their types, besides what is planned. */
export function addKeys(entities: SelectionSetNode, keys: readonly CheckedKey[]): SelectionSetNode {
  const selections = entities.selections.map((selection) => {
    const fields = keys.filter(({ typeCondition }) => isFragmentOf(selection, typeCondition)).map(toField);
    if (selection.kind !== Kind.INLINE_FRAGMENT || fields.length === 0) return selection;
    const { selectionSet } = selection;
    return { ...selection, selectionSet: { ...selectionSet, selections: [...selectionSet.selections, ...fields] } };
  });
  return { ...entities, selections };
}

function toField({ name, responseName }: CheckedKey): FieldNode {
  const toName = (value: string): NameNode => ({ kind: Kind.NAME, value });
  return { kind: Kind.FIELD, alias: toName(responseName), name: toName(name) };
}

/** The checks of entities that are requested for objects of a layout. */
export function createKeyChecks(
  checkedKeys: readonly CheckedKey[],
  types: SupergraphTypes,
): (layout: ObjectLayout) => readonly KeyCheck[] {
  const known = new Map<ObjectLayout, readonly KeyCheck[]>();
  const createChecks = (layout: ObjectLayout) =>
    checkedKeys.flatMap(({ typeCondition, name, responseName, isExact }) => {
      const access = types.applies(typeCondition, layout.typename) ? layout.access(name) : undefined;
      return access ? { responseName, isExact, access } : [];
    });
  return (layout) => {
    const checks = known.get(layout) ?? createChecks(layout);
    known.set(layout, checks);
    return checks;
  };
}
