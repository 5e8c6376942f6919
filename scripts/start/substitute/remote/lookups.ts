// Which root field of the remote's API returns an entity by its key: `user(id: ID!): User`.
import {
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  getNullableType,
  type GraphQLSchema,
  isAbstractType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import type { EntityKeys } from "../subgraph-schema.ts";

/** A root field that returns the entity with a key. */
export interface EntityLookup {
  readonly field: string;
  /** The type that the field returns: the entity's type, or an interface or union with it. */
  readonly returns: string;
  /** An argument for each field of the key. */
  readonly arguments: readonly { readonly name: string; readonly type: string; readonly keyField: string }[];
}

/** By type name, a look-up for each key that has one, in the order of the keys. A type without any has an empty list. */
export type EntityLookups = ReadonlyMap<string, readonly EntityLookup[]>;

/** Derives the look-ups of a subgraph's entities from the API schema of the remote. */
export function findLookups(api: GraphQLSchema, keys: EntityKeys): EntityLookups {
  const rootFields = Object.values(api.getQueryType()?.getFields() ?? {});
  return new Map(
    [...keys].map(([type, ofType]) => {
      const returning = rootFields.filter((field) => returnsOne(api, field, type));
      return [type, ofType.flatMap((key) => findLookup(returning, type, key) ?? [])] as const;
    }),
  );
}

type RootField = GraphQLField<unknown, unknown>;

/** Whether the field returns one object that is, or can be, of this type. */
function returnsOne(api: GraphQLSchema, { type }: RootField, name: string): boolean {
  if (isListType(getNullableType(type))) return false;
  const returned = getNamedType(type);
  const entity = api.getType(name);
  return (
    returned.name === name || (isAbstractType(returned) && isObjectType(entity) && api.isSubType(returned, entity))
  );
}

/** Prefers a field that returns the entity's type itself, then the field with the fewest arguments. Undefined if no field fits. */
function findLookup(fields: readonly RootField[], type: string, key: readonly string[]): EntityLookup | undefined {
  const candidates = fields.flatMap((field) => {
    const matched = key.map((keyField) => ({ keyField, argument: findArgument(field, type, keyField) }));
    const used = new Set(matched.map(({ argument }) => argument));
    const isComplete = used.size === key.length && !used.has(undefined);
    const needsMore = field.args.some((argument) => isRequiredArgument(argument) && !used.has(argument));
    if (!isComplete || needsMore) return [];
    const values = matched.flatMap(({ keyField, argument }) =>
      argument ? { name: argument.name, type: String(argument.type), keyField } : [],
    );
    const lookup = { field: field.name, returns: getNamedType(field.type).name, arguments: values };
    return { lookup, rank: field.args.length + (lookup.returns === type ? 0 : 100) };
  });
  return candidates.toSorted((a, b) => a.rank - b.rank)[0]?.lookup;
}

/** The argument with the name of the key field, or with that of the type before it: `userId` for `User.id`. */
function findArgument({ args }: RootField, type: string, keyField: string): GraphQLArgument | undefined {
  const long = `${type}_${keyField}`.replaceAll("_", "").toLowerCase();
  return (
    args.find(({ name }) => name === keyField) ??
    args.find(({ name }) => name.replaceAll("_", "").toLowerCase() === long)
  );
}
