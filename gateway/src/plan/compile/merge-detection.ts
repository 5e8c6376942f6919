// Detects plans whose data cannot be joined: two fetches provide fields of one object without a key, so neither response has the whole object.
// The data of such a plan is merged into one tree instead (../../run/merge.ts).
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch } from "./compiled-plan.ts";
import { fetchesAt } from "./positions.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** What one fetch selects of the objects at a position. */
interface SelectionAt {
  readonly fetchIndex: number;
  readonly set: SelectionSetNode;
}

/** A composite field as one fetch selects it. */
interface CompositeField {
  readonly fetchIndex: number;
  /** The object types to which the selection applies. Undefined for all. */
  readonly typenames: ReadonlySet<string> | undefined;
  readonly selectionSet: SelectionSetNode;
}

/**
 * The `fetchIndex` of all selections below a composite field. For each object type, one fetch selects that field (else the search has ended with
 * true), so these selections cannot conflict with each other.
 */
const sameFetch = -1;

/**
 * Whether two fetches select the same composite field of one object. May be true without need: of the type conditions, only those directly around
 * the two selections are compared, not those around their parent fields.
 */
export function needsMerging(
  fetches: readonly CompiledFetch[],
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
): boolean {
  const selectionsAt = (path: readonly string[]): readonly SelectionAt[] =>
    fetchesAt(fetches, path).map(({ joinIndex, selected }) => ({ fetchIndex: joinIndex, set: selected }));

  function hasSharedField(selections: readonly SelectionAt[], path: readonly string[]): boolean {
    const fieldsByKey = new Map<string, CompositeField[]>();
    for (const { fetchIndex, set } of selections)
      collectCompositeFields(set, fetchIndex, undefined, types, keyOf, fieldsByKey);
    for (const [key, fields] of fieldsByKey) {
      if (fields.some((field, i) => fields.slice(i + 1).some((other) => isShared(field, other)))) return true;
      const below = [...path, key];
      const objects = fields.map(({ selectionSet }) => ({ fetchIndex: sameFetch, set: selectionSet }));
      if (hasSharedField([...objects, ...selectionsAt(below)], below)) return true;
    }
    return false;
  }

  return hasSharedField(selectionsAt([]), []);
}

function isShared(one: CompositeField, other: CompositeField): boolean {
  if (one.fetchIndex === other.fetchIndex) return false;
  return !one.typenames || !other.typenames || intersect(one.typenames, other.typenames).size > 0;
}

/** Adds the composite fields of the selection set to `into`, by planner key. */
function collectCompositeFields(
  { selections }: SelectionSetNode,
  fetchIndex: number,
  typenames: ReadonlySet<string> | undefined,
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
  into: Map<string, CompositeField[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const typeCondition = selection.typeCondition?.name.value;
      const possible = typeCondition === undefined ? undefined : types.possibleTypes(typeCondition);
      const both = typenames && possible ? intersect(typenames, possible) : (typenames ?? possible);
      collectCompositeFields(selection.selectionSet, fetchIndex, both, types, keyOf, into);
    } else if (selection.selectionSet) {
      const key = keyOf(selection);
      into.set(key, [...(into.get(key) ?? []), { fetchIndex, typenames, selectionSet: selection.selectionSet }]);
    }
  }
}

function intersect(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((name) => other.has(name)));
}
