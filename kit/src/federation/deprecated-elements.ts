import {
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
} from "graphql";

export interface DeprecatedElement {
  /** `Post.body`, `User.posts.first`, `Role.ADMIN`: a field, argument, input field or enum value, as `npm run check` names it. */
  readonly coordinate: string;
  readonly reason: string;
}

/** By coordinate. */
export type DeprecatedElements = ReadonlyMap<string, DeprecatedElement>;

export function listDeprecatedElements(schema: GraphQLSchema): DeprecatedElements {
  const elements = new Map<string, DeprecatedElement>();
  const add = (
    parent: string,
    members: readonly { readonly name: string; readonly deprecationReason?: string | null | undefined }[],
  ) => {
    for (const { name, deprecationReason: reason } of members) {
      const coordinate = `${parent}.${name}`;
      if (typeof reason === "string") elements.set(coordinate, { coordinate, reason });
    }
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    if (isEnumType(type)) add(type.name, type.getValues());
    if (isInputObjectType(type)) add(type.name, Object.values(type.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = Object.values(type.getFields());
    add(type.name, fields);
    for (const { name, args } of fields) add(`${type.name}.${name}`, args);
  }
  return elements;
}
