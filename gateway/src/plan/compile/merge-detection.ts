// Stage 3 of 5: how to answer? Whether a plan can be joined: it can unless two fetches bring parts of one and the same object that is no
// entity's own, for then neither part alone is the object.
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch } from "./compiled-plan.ts";
import { fetchesAt } from "./fetches-at.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** A field with selections, as one fetch has it, and the types of the objects that it is on; undefined for all. */
interface Part {
  readonly slot: number;
  readonly on: ReadonlySet<string> | undefined;
  readonly below: SelectionSetNode;
}

interface Source {
  readonly slot: number;
  readonly set: SelectionSetNode;
}

const rootSlot = -1;

/** Errs on the side of true: types are looked at on one level only. */
export function sharesComposites(
  fetches: readonly CompiledFetch[],
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
): boolean {
  const sourcesAt = (path: readonly string[]): readonly Source[] =>
    fetchesAt(fetches, path).map(({ slot, selected }) => ({ slot, set: selected }));

  function sharesBelow(sources: readonly Source[], path: readonly string[]): boolean {
    const partsByKey = new Map<string, Part[]>();
    for (const { slot, set } of sources) collectParts(set, slot, undefined, types, keyOf, partsByKey);
    for (const [key, parts] of partsByKey) {
      if (parts.some((part, i) => parts.slice(i + 1).some((other) => isShared(part, other)))) return true;
      const below = [...path, key];
      const own = parts.map((part) => ({ slot: rootSlot, set: part.below }));
      if (sharesBelow([...own, ...sourcesAt(below)], below)) return true;
    }
    return false;
  }

  return sharesBelow(sourcesAt([]), []);
}

function isShared(one: Part, other: Part): boolean {
  if (one.slot === other.slot) return false;
  return !one.on || !other.on || intersect(one.on, other.on).size > 0;
}

function collectParts(
  { selections }: SelectionSetNode,
  slot: number,
  on: ReadonlySet<string> | undefined,
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
  into: Map<string, Part[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      const runtimeTypes = condition === undefined ? undefined : types.runtimeTypes(condition);
      const both = on && runtimeTypes ? intersect(on, runtimeTypes) : (on ?? runtimeTypes);
      collectParts(selection.selectionSet, slot, both, types, keyOf, into);
    } else if (selection.selectionSet) {
      const key = keyOf(selection);
      into.set(key, [...(into.get(key) ?? []), { slot, on, below: selection.selectionSet }]);
    }
  }
}

function intersect(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((name) => other.has(name)));
}
