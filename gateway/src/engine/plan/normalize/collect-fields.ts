// Collects the fields of selection sets by key (GraphQL spec, "CollectFields"), `@skip`, `@include` and named fragments resolved.
import { type ASTNode, type FieldNode, Kind, type SelectionSetNode, visit } from "graphql";

export type FieldsByKey = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * In the order of their first selection.
 * @param applies whether a fragment with this type condition applies to the object.
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

export function selectionSetsOf(fields: readonly FieldNode[]): readonly SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? []);
}

export function listVariables(node: ASTNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(node, { Variable: ({ name }) => void names.add(name.value) });
  return names;
}

export function responseNameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}
