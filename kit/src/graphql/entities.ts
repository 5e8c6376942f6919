import { type GraphQLObjectType, type GraphQLSchema, isUnionType, Kind } from "graphql";
import { AppError } from "../errors/app-error.ts";
import type { CacheRecord } from "./cache-metadata.ts";

type Representation = Readonly<Record<string, unknown>>;

interface EntityArguments {
  readonly representations: readonly unknown[];
}

interface EntityContext {
  /** Undefined unless the request asks for cache metadata. */
  readonly cacheRecord?: CacheRecord;
}

/**
 * Each representation is resolved separately, so that an invalid one does not fail the others; DataLoaders still batch them. Without all
 * fields of a key, as strings, its entity is null, without a lookup. An unknown `__typename` is BAD_USER_INPUT.
 */
export function resolveEntitiesSeparately(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()["_entities"];
  const resolve = field?.resolve;
  if (field === undefined || resolve === undefined) return;
  const keysByType = readKeys(schema);
  field.resolve = (source, { representations }: EntityArguments, context: EntityContext, info) => {
    context.cacheRecord?.addEntities(String(info.path.key), representations.length);
    return representations.map(async (value, index) => {
      const representation = Object(value) as Representation;
      const keys = keysByType.get(representation["__typename"]);
      if (keys === undefined) throw new AppError("BAD_USER_INPUT", "The type is not an entity of this service.");
      const hasKey = keys.some((names) => names.every((name) => typeof representation[name] === "string"));
      if (!hasKey) return null;
      // `cacheRecord` finds the entity by the path.
      const path = { prev: info.path, key: index, typename: undefined };
      const entityInfo = context.cacheRecord ? { ...info, path } : info;
      const [entity] = (await resolve(source, { representations: [representation] }, context, entityInfo)) as unknown[];
      return entity;
    });
  };
}

/** By type name, of each `@key`. Keys with nested selections are not supported: their representations become null. */
function readKeys(schema: GraphQLSchema): ReadonlyMap<unknown, readonly (readonly string[])[]> {
  const union = schema.getType("_Entity");
  const types = isUnionType(union) ? union.getTypes() : [];
  return new Map(types.map((type) => [type.name, keysOf(type)]));
}

/** GraphQL ignores commas, like white space. */
const nameSeparator = /[\s,]+/;

function keysOf({ astNode, extensionASTNodes }: GraphQLObjectType): readonly (readonly string[])[] {
  const directives = [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
  const keys: (readonly string[])[] = [];
  for (const directive of directives) {
    if (directive.name.value !== "key") continue;
    const fields = directive.arguments?.find(({ name }) => name.value === "fields")?.value;
    if (fields?.kind === Kind.STRING) keys.push(fields.value.trim().split(nameSeparator));
  }
  return keys;
}
