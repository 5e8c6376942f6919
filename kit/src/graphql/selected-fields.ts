import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  isCompositeType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";

/**
 * Whether the selections below a field select one of `fields` on an object of the type, at any depth and in fragments. Selections below such
 * an object are not searched. `@skip` and `@include` are ignored, so the result may be true for a field that is omitted, never false for
 * one that is returned.
 */
export function selectsField(info: GraphQLResolveInfo, typeName: string, fields: readonly string[]): boolean {
  const type = getNamedType(info.returnType);
  // Each fragment is visited once: fragments that spread each other twice at each level grow exponentially.
  const visited = new Set<string>();
  return info.fieldNodes.some(({ selectionSet }) => anyMatches(selectionSet, type));

  function anyMatches(selections: SelectionSetNode | undefined, of: GraphQLNamedType | undefined): boolean {
    return selections?.selections.some((selection) => selectionMatches(selection, of)) ?? false;
  }

  function selectionMatches(selection: SelectionNode, of: GraphQLNamedType | undefined): boolean {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const { value: name } = selection.name;
      if (visited.has(name)) return false;
      visited.add(name);
      const fragment = info.fragments[name];
      return anyMatches(fragment?.selectionSet, info.schema.getType(fragment?.typeCondition.name.value ?? ""));
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      return anyMatches(selection.selectionSet, condition === undefined ? of : info.schema.getType(condition));
    }
    if (of?.name === typeName) return fields.includes(selection.name.value);
    const field = isObjectType(of) ? of.getFields()[selection.name.value] : undefined;
    const below = field && getNamedType(field.type);
    return isCompositeType(below) && anyMatches(selection.selectionSet, below);
  }
}
