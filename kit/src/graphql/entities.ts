import { type GraphQLObjectType, type GraphQLSchema, isUnionType, Kind } from "graphql";
import { AppError } from "../errors/app-error.ts";

type Representation = Readonly<Record<string, unknown>>;

/**
 * Makes `_entities` take each representation on its own: one that is no good costs its own place, and neither the list nor the statement
 * that it would have shared with the others. A key that is no text cannot exist, and what cannot exist is null; a type that is no
 * entity here is BAD_USER_INPUT.
 */
export function resolveEntitiesSeparately(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()["_entities"];
  const resolve = field?.resolve;
  if (field === undefined || resolve === undefined) return;
  const keys = readKeys(schema);
  field.resolve = (source, args: { readonly representations: readonly unknown[] }, context, info) =>
    args.representations.map(async (given) => {
      const representation = Object(given) as Representation;
      const ofType = keys.get(representation["__typename"]);
      if (ofType === undefined) throw new AppError("BAD_USER_INPUT", "This is no entity of this service.");
      if (!ofType.some((key) => key.every((name) => typeof representation[name] === "string"))) return null;
      const [entity] = (await resolve(source, { representations: [representation] }, context, info)) as unknown[];
      return entity;
    });
}

/** By type, the field names of each of its keys. Keys with nested selections are not read: such a one would be looked for and not found. */
function readKeys(schema: GraphQLSchema): ReadonlyMap<unknown, readonly (readonly string[])[]> {
  const union = schema.getType("_Entity");
  const types = isUnionType(union) ? union.getTypes() : [];
  return new Map(types.map((type) => [type.name, keysOf(type)]));
}

function keysOf({ astNode, extensionASTNodes }: GraphQLObjectType): readonly (readonly string[])[] {
  return [astNode, ...extensionASTNodes]
    .flatMap((node) => node?.directives ?? [])
    .filter(({ name }) => name.value === "key")
    .flatMap((key) => key.arguments ?? [])
    .flatMap(({ name, value }) => (name.value === "fields" && value.kind === Kind.STRING ? [value.value] : []))
    .map((fields) => fields.trim().split(/[\s,]+/));
}
