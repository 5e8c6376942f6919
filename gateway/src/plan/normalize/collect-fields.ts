// Stage 3 of 5: how to answer? Selection sets read by key (GraphQL spec, "CollectFields"); conditions are resolved before.
import { type FieldNode, Kind, type SelectionSetNode } from "graphql";

export type FieldsByKey = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * The fields that selection sets select of an object, by key, in the order in which they are first met.
 * @param applies says of a fragment's type condition whether it holds for the object.
 * @param keyOf gives a field's key.
 */
export function collectFields(
  sets: readonly SelectionSetNode[],
  applies: (typeCondition: string) => boolean,
  keyOf: (field: FieldNode) => string,
): FieldsByKey {
  const fields = new Map<string, FieldNode[]>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error("Fragments are written out before plans are made");
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value;
        if (condition === undefined || applies(condition)) collect(selection.selectionSet);
        continue;
      }
      const key = keyOf(selection);
      const known = fields.get(key);
      if (known) known.push(selection);
      else fields.set(key, [selection]);
    }
  };
  sets.forEach(collect);
  return fields;
}

export function selectionSetsOf(fields: readonly FieldNode[]): readonly SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? []);
}

export function responseNameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}
