// Imported by the generated schema-types.ts, in place of the copy that GraphQL Code Generator writes into every file.
import type { GraphQLResolveInfo, GraphQLScalarType } from "graphql";

export type Maybe<T> = T | null | undefined;

export type InputMaybe<T> = Maybe<T>;

/** The members `K` are present: arguments with a default value, which GraphQL always passes. */
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };

export type ResolverTypeWrapper<T> = Promise<T> | T;

type ResolverFunction<Result, Parent, Context, Args> = (
  parent: Parent,
  args: Args,
  context: Context,
  info: GraphQLResolveInfo,
) => Promise<Result> | Result;

type EmptyObject = Record<PropertyKey, never>;

export type Resolver<Result, Parent = EmptyObject, Context = EmptyObject, Args = EmptyObject> =
  | ResolverFunction<Result, Parent, Context, Args>
  | { resolve: ResolverFunction<Result, Parent, Context, Args> };

export type ReferenceResolver<Result, Reference, Context> = (
  reference: Reference,
  context: Context,
  info: GraphQLResolveInfo,
) => Promise<Result> | Result;

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

/** The part of T that a selection names, such as `{ id: true }`. */
export type GraphQLRecursivePick<T, Selection> = {
  [K in keyof T & keyof Selection]: PickValue<T[K], Selection[K]>;
};

type PickValue<T, Selection> = Selection extends true ? T : PickNullable<T, Selection>;
type PickNullable<T, Selection> =
  Maybe<T> extends T ? Maybe<PickList<NonNullable<T>, Selection>> : PickList<T, Selection>;
type PickList<T, Selection> = T extends (infer Item)[]
  ? PickNullable<Item, Selection>[]
  : GraphQLRecursivePick<T, Selection>;
