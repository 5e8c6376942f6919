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

export interface EntityLookup {
  readonly field: string;
  /** The type that the field returns: the entity's type, or an interface or union with it. */
  readonly returns: string;
  readonly arguments: readonly LookupArgument[];
}

interface LookupArgument {
  readonly name: string;
  /** As in the schema: `ID!`. */
  readonly type: string;
  readonly keyField: string;
}

/** By type name, a look-up for each key that has one, in the order of the keys. A type without any has an empty list. */
export type EntityLookups = ReadonlyMap<string, readonly EntityLookup[]>;

export function findLookups(api: GraphQLSchema, keys: EntityKeys): EntityLookups {
  const rootFields = Object.values(api.getQueryType()?.getFields() ?? {});
  return new Map(
    [...keys].map(([type, keysOfType]) => {
      const fields = rootFields.filter((field) => returnsOne(api, field, type));
      const lookups = keysOfType.flatMap((key) => findLookup(fields, type, key) ?? []);
      return [type, lookups] as const;
    }),
  );
}

type RootField = GraphQLField<unknown, unknown>;

function returnsOne(api: GraphQLSchema, { type }: RootField, name: string): boolean {
  if (isListType(getNullableType(type))) return false;
  const returned = getNamedType(type);
  if (returned.name === name) return true;
  const entity = api.getType(name);
  return isAbstractType(returned) && isObjectType(entity) && api.isSubType(returned, entity);
}

interface RankedLookup {
  readonly lookup: EntityLookup;
  readonly rank: number;
}

/** Added to the rank of a field that returns an interface or a union: more than fields have arguments. */
const abstractTypeRank = 100;

/** Prefers a field that returns the entity's type itself, then the field with the fewest arguments. Undefined if no field fits. */
function findLookup(fields: readonly RootField[], type: string, key: readonly string[]): EntityLookup | undefined {
  const candidates = fields.flatMap((field) => matchField(field, type, key) ?? []);
  const [preferred] = candidates.toSorted((a, b) => a.rank - b.rank);
  return preferred?.lookup;
}

/** @returns undefined unless each key field has its own argument and no other argument is required. */
function matchField(field: RootField, type: string, key: readonly string[]): RankedLookup | undefined {
  const used = new Set<GraphQLArgument>();
  const keyArguments: LookupArgument[] = [];
  for (const keyField of key) {
    const argument = findArgument(field, type, keyField);
    if (argument === undefined) return undefined;
    used.add(argument);
    keyArguments.push({ name: argument.name, type: String(argument.type), keyField });
  }
  if (used.size < key.length) return undefined;
  if (field.args.some((argument) => isRequiredArgument(argument) && !used.has(argument))) return undefined;
  const returns = getNamedType(field.type).name;
  const typeRank = returns === type ? 0 : abstractTypeRank;
  return { lookup: { field: field.name, returns, arguments: keyArguments }, rank: field.args.length + typeRank };
}

/** The argument with the name of the key field, or with that of the type before it: `userId` for `User.id`. */
function findArgument({ args }: RootField, type: string, keyField: string): GraphQLArgument | undefined {
  const longName = toComparable(`${type}_${keyField}`);
  return args.find(({ name }) => name === keyField) ?? args.find(({ name }) => toComparable(name) === longName);
}

/** The name without underscores and capital letters: `userId` and `user_id` are equal. */
function toComparable(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
