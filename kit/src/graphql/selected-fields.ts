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
 * Called by a resolver, to load only the columns that its field needs: whether the selections below the field select one of `fields` on an
 * object of the type, at any depth and in fragments. Selections below that object are not searched. `@skip` and `@include` are ignored, so
 * the result may be true for a field that is omitted. A field that is selected on an interface, without a fragment on the object type, is not found.
 */
export function selectsField(info: GraphQLResolveInfo, typeName: string, fields: readonly string[]): boolean {
  const returnType = getNamedType(info.returnType);
  // Each fragment is visited once: if each fragment spreads the next one twice, the number of visits would grow exponentially.
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
