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
  const nodesByPath = new Map<string, FieldNode[]>();

  function search({ selections }: SelectionSetNode, path: readonly string[]): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) search(selection.selectionSet, path);
      // A leaf field is no introspection field, and has none below it.
      if (selection.kind !== Kind.FIELD || !selection.selectionSet || rejectedFields.has(selection)) continue;
      const fieldPath = [...path, keyOf(selection)];
      if (isIntrospectionField(selection)) addTo(nodesByPath, fieldPath.join("/"), selection);
      else search(selection.selectionSet, fieldPath);
    }
  }

  search(selectionSet, []);
  if (nodesByPath.size === 0) return undefined;
  const aliases = new Map([...nodesByPath.keys()].map((path, i) => [path, aliasOf(i)]));
  const selections = [...nodesByPath.values()].flatMap((nodes, i) => nodes.map((node) => withAlias(node, aliasOf(i))));
  return {
    selectionSet: { kind: Kind.SELECTION_SET, selections },
    findAlias: (path) => aliases.get(path.join("/")),
  };
}

/** False for `__typename`, which needs no execution. */
export function isIntrospectionField({ name }: FieldNode): boolean {
  return name.value === "__schema" || name.value === "__type";
}

function aliasOf(index: number): string {
  return `introspection${index}`;
}

function withAlias(node: FieldNode, alias: string): FieldNode {
  return { ...node, alias: { kind: Kind.NAME, value: alias } };
}

function addTo(nodesByPath: Map<string, FieldNode[]>, path: string, node: FieldNode): void {
  const nodes = nodesByPath.get(path);
  if (nodes) nodes.push(node);
  else nodesByPath.set(path, [node]);
}
