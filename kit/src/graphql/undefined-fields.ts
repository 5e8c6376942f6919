import { defaultFieldResolver, type GraphQLSchema, isObjectType } from "graphql";

/**
 * For development. GraphQL turns `undefined` into null, so a forgotten resolver, a misspelt property or a column that no query selects looks like a
 * field without a value. A resolver that means null must return null.
 */
export function rejectUndefinedFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    const isIntrospection = type.name.startsWith("__");
    if (!isObjectType(type) || isIntrospection) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      const fault = resolve
        ? "its resolver returns undefined"
        : "it has no resolver, and its object has no value for it";
      const check = (value: unknown) => {
        if (value !== undefined) return value;
        const error = new Error(`${type.name}.${field.name} has no value: ${fault}`);
        delete error.stack; // Its frames are those of graphql-js.
        throw error;
      };
      const resolveAny = resolve ?? defaultFieldResolver;
      field.resolve = (source, args, context, info) => {
        const value: unknown = resolveAny(source, args, context, info);
        return value instanceof Promise ? value.then(check) : check(value);
      };
    }
  }
}
