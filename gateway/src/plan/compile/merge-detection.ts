// Detects plans whose data cannot be joined; compile.ts calls it once per plan. Two fetches that select the same composite field (a field with a
// selection set) of one object each return a part of the object below it, and no key relates the parts. The data of such a plan is merged into
// one tree instead (../../run/merge.ts). A leaf field selected twice is no problem: it is read from either fetch.
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch } from "./compiled-plan.ts";
import { fetchesAt } from "./positions.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** What one fetch selects of the objects at a position. */
interface SelectionAt {
  /** The fetch, or `fetchOfParent`. */
  readonly joinIndex: number;
  readonly set: SelectionSetNode;
}

/** A composite field as one fetch selects it. */
interface CompositeField {
  /** The fetch, or `fetchOfParent`. */
  readonly joinIndex: number;
  /** The object types to which the selection applies. Undefined for all. */
  readonly typenames: ReadonlySet<string> | undefined;
  readonly selectionSet: SelectionSetNode;
}

/**
 * Stands for the fetch that returned the parent field. Each object type has exactly one such fetch, because two of them would have ended the search
 * with true. So the selections of parents are compared only with the selections of fetches that are joined at this position.
 */
const fetchOfParent = -1;

/**
 * Whether two fetches select the same composite field of one object. False is always correct; true may be wrong, which only costs copies, because
 * type conditions around the parent fields are not compared. If one fetch selects `... on Book { shop { owner { name } } }`, and another is joined
 * only to the shop of a `Film` and selects `owner { age }`, the result is true, although these are different owners.
 * @param keyOf the planner key of a field in a fetch's selection. Fields with equal keys at one position are the same field of the response.
 */
export function needsMerging(
  fetches: readonly CompiledFetch[],
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
): boolean {
  const selectionsAt = (path: readonly string[]): readonly SelectionAt[] =>
    fetchesAt(fetches, path).map(({ joinIndex, selected }) => ({ joinIndex, set: selected }));

  function hasSharedField(selections: readonly SelectionAt[], path: readonly string[]): boolean {
    const fieldsByKey = new Map<string, CompositeField[]>();
    for (const { joinIndex, set } of selections)
      collectCompositeFields(set, joinIndex, undefined, types, keyOf, fieldsByKey);
    for (const [key, fields] of fieldsByKey) {
      if (hasSharedPair(fields)) return true;
      const pathBelow = [...path, key];
      const selectionsOfParents = fields.map(({ selectionSet }) => ({ joinIndex: fetchOfParent, set: selectionSet }));
      const selectionsBelow = [...selectionsOfParents, ...selectionsAt(pathBelow)];
      if (hasSharedField(selectionsBelow, pathBelow)) return true;
    }
    return false;
  }

  return hasSharedField(selectionsAt([]), []);
}

/** @param fields with equal keys. */
function hasSharedPair(fields: readonly CompositeField[]): boolean {
  return fields.some((field, i) => {
    const laterFields = fields.slice(i + 1);
    return laterFields.some((laterField) => isShared(field, laterField));
  });
}

/** Whether two fetches select the field of one object type. */
function isShared(one: CompositeField, other: CompositeField): boolean {
  if (one.joinIndex === other.joinIndex) return false;
  if (one.typenames === undefined || other.typenames === undefined) return true;
  return intersect(one.typenames, other.typenames).size > 0;
}

/** Adds the composite fields of the selection set to `into`, by planner key. */
function collectCompositeFields(
  { selections }: SelectionSetNode,
  joinIndex: number,
  typenames: ReadonlySet<string> | undefined,
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
  into: Map<string, CompositeField[]>,
): void {
  for (const selection of selections) {
    // Does not occur: normalize.ts inlines named fragments, and the planner creates none.
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const narrowed = narrow(typenames, selection.typeCondition?.name.value, types);
      collectCompositeFields(selection.selectionSet, joinIndex, narrowed, types, keyOf, into);
    } else if (selection.selectionSet) {
      const key = keyOf(selection);
      const field: CompositeField = { joinIndex, typenames, selectionSet: selection.selectionSet };
      const sameKey = into.get(key);
      if (sameKey) sameKey.push(field);
      else into.set(key, [field]);
    }
  }
}

/** The object types in a fragment. `typenames` are the object types around it. Undefined stands for all. */
function narrow(
  typenames: ReadonlySet<string> | undefined,
  typeCondition: string | undefined,
  types: SupergraphTypes,
): ReadonlySet<string> | undefined {
  if (typeCondition === undefined) return typenames;
  const possibleTypes = types.possibleTypes(typeCondition);
  return typenames === undefined ? possibleTypes : intersect(typenames, possibleTypes);
}

function intersect(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((name) => other.has(name)));
}
