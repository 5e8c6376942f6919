// Finds `__schema` and `__type`: at the root, and below other fields whose type is the query type.
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from "graphql";

export interface IntrospectionFields {
  /** All as root fields of one query, each with a unique alias. */
  readonly selectionSet: SelectionSetNode;
  /** Undefined if the field at this path of planner keys is no introspection field. */
  findAlias(path: readonly string[]): string | undefined;
}

/**
 * @param operation with named fragments resolved.
 * @returns undefined for an operation without introspection fields.
 */
export function findIntrospectionFields(
  { selectionSet }: OperationDefinitionNode,
  keyOf: (field: FieldNode) => string,
  rejectedFields: ReadonlySet<FieldNode> = new Set(),
): IntrospectionFields | undefined {
  const aliases = new Map<string, string>();
  const fields: FieldNode[] = [];

  function add(field: FieldNode, path: string): void {
    const alias = aliases.get(path) ?? `introspection${aliases.size}`;
    aliases.set(path, alias);
    fields.push({ ...field, alias: { kind: Kind.NAME, value: alias } });
  }

  function search({ selections }: SelectionSetNode, path: readonly string[]): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) search(selection.selectionSet, path);
      // A leaf field is no introspection field, and has none below it.
      if (selection.kind !== Kind.FIELD || !selection.selectionSet || rejectedFields.has(selection)) continue;
      const fieldPath = [...path, keyOf(selection)];
      if (isIntrospectionField(selection)) add(selection, fieldPath.join("/"));
      else search(selection.selectionSet, fieldPath);
    }
  }

  search(selectionSet, []);
  if (fields.length === 0) return undefined;
  return {
    selectionSet: { kind: Kind.SELECTION_SET, selections: fields },
    findAlias: (path) => aliases.get(path.join("/")),
  };
}

/** False for `__typename`, which needs no execution. */
export function isIntrospectionField({ name }: FieldNode): boolean {
  return name.value === "__schema" || name.value === "__type";
}
