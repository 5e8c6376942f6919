import { GraphQLSchema, isInputObjectType } from "graphql";

/**
 * What clients see of a supergraph's API schema as Apollo's libraries build it: with its description and `@oneOf`, which they drop, and without
 * subscriptions, which the gateway does not serve. The types that only subscriptions return remain.
 */
export function toClientSchema(
  schema: GraphQLSchema,
  { oneOfInputs, description }: { readonly oneOfInputs: Iterable<string>; readonly description: string | undefined },
): GraphQLSchema {
  for (const name of oneOfInputs) {
    const type = schema.getType(name);
    if (isInputObjectType(type)) type.isOneOf = true;
  }
  const config = schema.toConfig();
  const { subscription } = config;
  return new GraphQLSchema({
    ...config,
    description,
    subscription: undefined,
    types: config.types.filter((type) => type !== subscription),
  });
}
