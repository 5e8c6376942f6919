// Imported by the generated schema-types.ts.
import type { GraphQLScalarType } from "graphql";

/** The fields that objects of type `Parent` do not have as members. A root object has no members. */
type FieldsWithoutMember<Resolvers, Parent> = Resolvers extends GraphQLScalarType
  ? never
  : Exclude<keyof Resolvers, `__${string}` | (string extends keyof Parent ? never : keyof Parent)>;

/** Such a field requires a resolver: graphql-js would return null without one. `All` has every resolver as optional. */
export type RequireResolvers<All, Parents> = All & {
  [
    Type in keyof All & keyof Parents as FieldsWithoutMember<NonNullable<All[Type]>, Parents[Type]> extends never
      ? never
      : Type
  ]: Required<Pick<NonNullable<All[Type]>, FieldsWithoutMember<NonNullable<All[Type]>, Parents[Type]>>>;
};
