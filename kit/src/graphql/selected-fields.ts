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
 * To load only the columns that a field needs: whether the selections below it select one of `fields` on an object of the type, at any
 * depth. `@skip` and `@include` are ignored. A field on an interface, without a fragment on the object type, is not found.
 */
export function selectsField(info: GraphQLResolveInfo, typeName: string, fields: readonly string[]): boolean {
  const returnType = getNamedType(info.returnType);
  // Each fragment is visited once: the number of visits could grow exponentially.
  const visitedFragments = new Set<string>();
  return info.fieldNodes.some(({ selectionSet }) => anyMatches(selectionSet, returnType));

  function anyMatches(selectionSet: SelectionSetNode | undefined, parentType: GraphQLNamedType | undefined): boolean {
    return selectionSet?.selections.some((selection) => selectionMatches(selection, parentType)) ?? false;
  }

  function selectionMatches(selection: SelectionNode, parentType: GraphQLNamedType | undefined): boolean {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragmentName = selection.name.value;
      if (visitedFragments.has(fragmentName)) return false;
      visitedFragments.add(fragmentName);
      const fragment = info.fragments[fragmentName];
      if (fragment === undefined) return false;
      const fragmentType = info.schema.getType(fragment.typeCondition.name.value);
      return anyMatches(fragment.selectionSet, fragmentType);
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const typeCondition = selection.typeCondition?.name.value;
      const fragmentType = typeCondition === undefined ? parentType : info.schema.getType(typeCondition);
      return anyMatches(selection.selectionSet, fragmentType);
    }
    if (parentType?.name === typeName) return fields.includes(selection.name.value);
    const field = isObjectType(parentType) ? parentType.getFields()[selection.name.value] : undefined;
    const fieldType = field && getNamedType(field.type);
    return isCompositeType(fieldType) && anyMatches(selection.selectionSet, fieldType);
  }
}
