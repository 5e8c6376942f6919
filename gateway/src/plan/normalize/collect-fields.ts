// Collects the fields of selection sets by key (GraphQL spec, "CollectFields"), for compile/ and planner-keys.ts when a plan is
// made, and for introspection/ also in requests. resolve-conditions.ts has resolved `@skip`, `@include` and named fragments before.
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";

export type FieldsByKey = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * The fields that the selection sets select of an object, in the order of their first selection.
 * @param applies whether a fragment with this type condition applies to the object.
 * @param keyOf the key of a field, such as its response name.
 */
export function collectFields(
  sets: readonly SelectionSetNode[],
  applies: (typeCondition: string) => boolean,
  keyOf: (field: FieldNode) => string,
): FieldsByKey {
  const fields = new Map<string, FieldNode[]>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        throw new Error("Named fragments must be resolved before fields are collected");
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const typeCondition = selection.typeCondition?.name.value;
        if (typeCondition === undefined || applies(typeCondition)) collect(selection.selectionSet);
        continue;
      }
      const key = keyOf(selection);
      const sameKey = fields.get(key);
      if (sameKey) sameKey.push(selection);
      else fields.set(key, [selection]);
    }
  };
  sets.forEach(collect);
  return fields;
}

/** The selection sets of fields with one key, which are to be merged. */
export function selectionSetsOf(fields: readonly FieldNode[]): readonly SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? []);
}

export function responseNameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}
