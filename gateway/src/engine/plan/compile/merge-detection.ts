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

/** `set` is below the field. */
interface CompositeField extends SelectionAt {
  readonly key: string;
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
    const compositeFields = selections.flatMap((selection) => listCompositeFields(selection, types, keyOf));
    for (const [key, fields] of Map.groupBy(compositeFields, (field) => field.key)) {
      if (hasCommonPair(fields)) return true;
      const keysBelow = [...keys, key];
      const selectionsOfParents = fields.map((field): SelectionAt => ({
        joinIndex: fetchOfParent,
        set: field.set,
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

function listCompositeFields(
  at: SelectionAt,
  types: SupergraphTypes,
  keyOf: (field: FieldNode) => string,
): readonly CompositeField[] {
  return at.set.selections.flatMap((selection) => {
    // There are no named fragments: normalize.ts inlines them, and the planner creates none.
    if (selection.kind === Kind.FRAGMENT_SPREAD || !selection.selectionSet) return [];
    const inside = { ...at, set: selection.selectionSet };
    if (selection.kind === Kind.FIELD) return [{ ...inside, key: keyOf(selection) }];
    const narrowed = narrow(at.types.at(-1), selection.typeCondition?.name.value, types);
    return listCompositeFields({ ...inside, types: [...at.types.slice(0, -1), narrowed] }, types, keyOf);
  });
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
