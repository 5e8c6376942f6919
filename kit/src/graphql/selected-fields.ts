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
 * Whether a field's selections ask its objects of a type for one of these fields, however deep these objects lie, in fragments too. What lies
 * below them is not looked at, but for nested objects of the type that are reached otherwise. A condition (`@skip`, `@include`) counts as met:
 * what is said to be asked for may be left out after all, and nothing that is said not to be is shown.
 */
export function selectsField(info: GraphQLResolveInfo, typeName: string, fields: readonly string[]): boolean {
  const type = getNamedType(info.returnType);
  // Each fragment once: those that spread each other twice at each level are as many as a power of two.
  const seen = new Set<string>();
  return info.fieldNodes.some(({ selectionSet }) => isAsked(selectionSet, type));

  function isAsked(selections: SelectionSetNode | undefined, of: GraphQLNamedType | undefined): boolean {
    return selections?.selections.some((selection) => isAskedBy(selection, of)) ?? false;
  }

  function isAskedBy(selection: SelectionNode, of: GraphQLNamedType | undefined): boolean {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const { value: name } = selection.name;
      if (seen.has(name)) return false;
      seen.add(name);
      const fragment = info.fragments[name];
      return isAsked(fragment?.selectionSet, info.schema.getType(fragment?.typeCondition.name.value ?? ""));
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      return isAsked(selection.selectionSet, condition === undefined ? of : info.schema.getType(condition));
    }
    if (of?.name === typeName) return fields.includes(selection.name.value);
    const field = isObjectType(of) ? of.getFields()[selection.name.value] : undefined;
    const below = field && getNamedType(field.type);
    return isCompositeType(below) && isAsked(selection.selectionSet, below);
  }
}
