// Key checks: each entity fetch also selects key fields of its entities, and stage 4 (run) does not use an entity whose key differs from the
// requested key. A key field is added to the fetch unless the plan selects it: `... on Book { inStock a_0_0_isbn: isbn }`. The alias is the prefix of
// aliases (`a_`), the digit 0, the number of the type condition and the field's name.
import type { FetchNode } from "@apollo/query-planner";
import {
  type FieldNode,
  getNullableType,
  type InlineFragmentNode,
  isEnumType,
  isScalarType,
  Kind,
  type NameNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import type { KeyCheck, ObjectLayout } from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

export interface CheckedKey {
  readonly typeCondition: string;
  readonly name: string;
  readonly responseName: string;
  /** The plan does not select the field. */
  readonly isAdded: boolean;
  /** If false, letter case and surrounding white space are ignored: a subgraph may normalize a string. */
  readonly isExact: boolean;
}

export interface KeyCheckOptions {
  readonly types: SupergraphTypes;
  readonly aliasPrefix: string;
  /** If false, key fields of the subgraph are neither added nor checked. */
  readonly checksKeys: (service: string) => boolean;
}

/** Entity types for whose fetches no key is added for a while, because the subgraph did not return it. One set per generation. */
export interface StoppedKeyAdditions {
  /** Grows with each change of the set, so an equal version means an unchanged set. */
  readonly version: number;
  has(service: string, typeCondition: string): boolean;
  /** False if the type is stopped already. */
  stop(service: string, typeCondition: string): boolean;
}

/** After the first pause the keys are added again. If the subgraph still does not return them, each further pause is twice as long. */
const pauseMsMin = 60_000;
const pauseMsMax = 3_600_000;

/** @param nowMs a monotonic clock. It is read only while a type is stopped. */
export function createStoppedKeyAdditions(nowMs = () => performance.now()): StoppedKeyAdditions {
  const pauses = new Map<string, { readonly pauseMs: number; readonly endsAtMs: number }>();
  let version = 0;
  let nextEndMs = Infinity;
  // A type name has no space, so keys are unique.
  const toKey = (service: string, typeCondition: string) => `${typeCondition} ${service}`;

  function change(atMs: number): void {
    version++;
    const ends = Array.from(pauses.values(), ({ endsAtMs }) => endsAtMs);
    nextEndMs = Math.min(Infinity, ...ends.filter((endsAtMs) => endsAtMs > atMs));
  }

  return {
    get version() {
      if (nextEndMs !== Infinity) {
        const readAtMs = nowMs();
        if (readAtMs >= nextEndMs) change(readAtMs);
      }
      return version;
    },
    has(service, typeCondition) {
      const pause = pauses.get(toKey(service, typeCondition));
      return pause !== undefined && nowMs() < pause.endsAtMs;
    },
    stop(service, typeCondition) {
      const stoppedAtMs = nowMs();
      const key = toKey(service, typeCondition);
      const last = pauses.get(key);
      if (last && stoppedAtMs < last.endsAtMs) return false;
      // Keys that were returned for as long as the last pause count as repaired.
      const isStillBroken = last && stoppedAtMs < last.endsAtMs + last.pauseMs;
      const pauseMs = isStillBroken ? Math.min(2 * last.pauseMs, pauseMsMax) : pauseMsMin;
      pauses.set(key, { pauseMs, endsAtMs: stoppedAtMs + pauseMs });
      change(stoppedAtMs);
      return true;
    },
  };
}

/**
 * Each added field has an alias per type condition, so that it never has to merge with a selection of another type (GraphQL spec, 5.3.2). No planner
 * key begins with the alias prefix and the digit 0.
 */
export function createCheckedKeys(
  node: FetchNode,
  selected: SelectionSetNode,
  o: KeyCheckOptions,
): readonly CheckedKey[] {
  const keyFields = o.checksKeys(node.serviceName) ? findKeyFields(node, o.types) : [];
  const typeConditions = [...new Set(keyFields.map(({ typeCondition }) => typeCondition))];
  const byCoordinate = new Map(keyFields.map((key) => [`${key.typeCondition}.${key.name}`, key]));
  return [...byCoordinate.values()].map((key) => {
    const { typeCondition, name, isExact } = key;
    const isAdded = !selectsWithoutAlias(selected, key);
    const alias = `${o.aliasPrefix}0_${typeConditions.indexOf(typeCondition)}_${name}`;
    return { typeCondition, name, isExact, isAdded, responseName: isAdded ? alias : name };
  });
}

type KeyField = Pick<CheckedKey, "typeCondition" | "name" | "isExact">;

/** The types of keys for `isExact`. Strings and enum values are compared without letter case. */
const exactTypes: ReadonlySet<string> = new Set(["ID", "Int"]);

/** A field may occur several times. */
function findKeyFields({ requires = [], serviceName }: FetchNode, types: SupergraphTypes): readonly KeyField[] {
  const keyFields: KeyField[] = [];
  for (const fragment of requires) {
    if (fragment.kind !== "InlineFragment" || fragment.typeCondition === undefined) continue;
    const { typeCondition, selections } = fragment;
    const namesInKeys = types.listKeyFields(serviceName, typeCondition);
    for (const selection of selections) {
      if (selection.kind !== "Field" || selection.selections) continue;
      const { name } = selection;
      const type = namesInKeys.has(name) ? findComparableType(types, typeCondition, name) : undefined;
      if (type) keyFields.push({ typeCondition, name, isExact: exactTypes.has(type.name) });
    }
  }
  return keyFields;
}

/** Not custom scalars: only the subgraph knows which of their values are equal. */
function findComparableType(types: SupergraphTypes, typename: string, fieldName: string) {
  const field = types.findField(typename, fieldName);
  const leaf = field?.args.length === 0 ? getNullableType(field.type) : undefined;
  if (isEnumType(leaf)) return leaf;
  if (isScalarType(leaf) && (leaf.name === "String" || exactTypes.has(leaf.name))) return leaf;
  return undefined;
}

function selectsWithoutAlias({ selections }: SelectionSetNode, { typeCondition, name }: KeyField): boolean {
  const fragments = selections.filter((selection) => isFragmentOf(selection, typeCondition));
  const members = fragments.flatMap(({ selectionSet }) => selectionSet.selections);
  return members.some(
    (field) => field.kind === Kind.FIELD && field.name.value === name && !field.alias && !field.directives?.length,
  );
}

function isFragmentOf(selection: SelectionNode, typeCondition: string): selection is InlineFragmentNode {
  return selection.kind === Kind.INLINE_FRAGMENT && selection.typeCondition?.name.value === typeCondition;
}

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

export function createKeyChecks(
  checkedKeys: readonly CheckedKey[],
  types: SupergraphTypes,
): (layout: ObjectLayout) => readonly KeyCheck[] {
  const checksByLayout = new Map<ObjectLayout, readonly KeyCheck[]>();
  const createChecks = (layout: ObjectLayout) =>
    checkedKeys.flatMap(({ typeCondition, name, responseName, isExact }) => {
      const access = types.applies(typeCondition, layout.typename) ? layout.access(name) : undefined;
      return access ? { responseName, isExact, access } : [];
    });
  return (layout) => {
    const checks = checksByLayout.get(layout) ?? createChecks(layout);
    checksByLayout.set(layout, checks);
    return checks;
  };
}
