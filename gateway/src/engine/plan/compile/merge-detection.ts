// Detects plans whose data cannot be joined; compile.ts calls it once per plan. Two fetches that select the same composite field (a field with a
// selection set) of one object each return a part of the object below it, and no key relates the parts. The data of such a plan is merged into
// one tree instead (../../run/merge.ts). A leaf field selected twice is no problem: it is read from either fetch.
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch } from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** For each step from the root to an object: the possible object types there. Undefined for all types. The first element is for the root. */
type TypesByStep = readonly (ReadonlySet<string> | undefined)[];

interface SelectionAt {
  /** The fetch, or `fetchOfParent`. */
  readonly joinIndex: number;
  readonly set: SelectionSetNode;
  readonly types: TypesByStep;
}

interface CompositeField {
  /** The fetch, or `fetchOfParent`. */
  readonly joinIndex: number;
  readonly types: TypesByStep;
  readonly selectionSet: SelectionSetNode;
}

/** Stands for the fetch that returned the parent field: each object type has exactly one, because two of them would have ended the search. */
const fetchOfParent = -1;

/** @param keyOf fields with equal planner keys at one position are the same field of the response. */
export function needsMerging(
  fetches: readonly CompiledFetch[],
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
): boolean {
  function hasSharedField(selections: readonly SelectionAt[], keys: readonly string[]): boolean {
    const fieldsByKey = new Map<string, CompositeField[]>();
    for (const selection of selections) collectCompositeFields(selection, types, keyOf, fieldsByKey);
    for (const [key, fields] of fieldsByKey) {
      if (hasCommonPair(fields)) return true;
      const keysBelow = [...keys, key];
      const selectionsOfParents = fields.map((field): SelectionAt => ({
        joinIndex: fetchOfParent,
        set: field.selectionSet,
        types: [...field.types, undefined],
      }));
      if (hasSharedField([...selectionsOfParents, ...selectionsAt(fetches, keysBelow)], keysBelow)) return true;
    }
    return false;
  }

  return hasSharedField(selectionsAt(fetches, []), []);
}

function selectionsAt(fetches: readonly CompiledFetch[], keys: readonly string[]): readonly SelectionAt[] {
  return fetches.flatMap(({ joinIndex, selected, paths }) => {
    const pathsHere = paths.filter(
      (path) => path.length === keys.length && path.every(({ key }, i) => key === keys[i]),
    );
    return pathsHere.map((path) => ({
      joinIndex,
      set: selected,
      types: [undefined, ...path.map((step) => step.types && new Set(step.types))],
    }));
  });
}

function hasCommonPair(fields: readonly CompositeField[]): boolean {
  return fields.some((field, i) => {
    const laterFields = fields.slice(i + 1);
    return laterFields.some((laterField) => haveCommonObject(field, laterField));
  });
}

function haveCommonObject(one: CompositeField, other: CompositeField): boolean {
  if (one.joinIndex === other.joinIndex) return false;
  return one.types.every((types, step) => haveCommonType(types, other.types[step]));
}

function haveCommonType(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): boolean {
  return one === undefined || other === undefined || intersect(one, other).size > 0;
}

function collectCompositeFields(
  { joinIndex, set, types: typesByStep }: SelectionAt,
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
  into: Map<string, CompositeField[]>,
): void {
  for (const selection of set.selections) {
    // Does not occur: normalize.ts inlines named fragments, and the planner creates none.
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const narrowed = narrow(typesByStep.at(-1), selection.typeCondition?.name.value, types);
      const inFragment = { joinIndex, set: selection.selectionSet, types: [...typesByStep.slice(0, -1), narrowed] };
      collectCompositeFields(inFragment, types, keyOf, into);
    } else if (selection.selectionSet) {
      const key = keyOf(selection);
      const field: CompositeField = { joinIndex, types: typesByStep, selectionSet: selection.selectionSet };
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
