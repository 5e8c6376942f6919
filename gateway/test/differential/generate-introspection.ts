import type { GraphQLCompositeType, GraphQLSchema } from "graphql";
import type { Dice } from "./dice.ts";

/** Questions to the schema itself. What they give does not depend on the order of types, of which the spec says nothing. */
const aboutSchema = ["{ queryType { name } }", "{ t: __typename queryType { fields { name } } mutationType { name } }"];
const aboutType = [
  "{ name }",
  "{ __typename kind name fields(includeDeprecated: true) { name type { kind name ofType { name } } } }",
  "{ constructor: name inputFields { name } enumValues { name } }",
];

/** A field and its selections, such as `__type(name: "User") { name }`. */
export function writeIntrospection(schema: GraphQLSchema, composites: readonly GraphQLCompositeType[], dice: Dice) {
  if (dice.chance(40)) return { field: "__schema", call: "__schema", body: dice.pick(aboutSchema) };
  const names = [...composites.map(({ name }) => name), schema.getQueryType()?.name ?? "", "ID", "NoSuchType"];
  return { field: "__type", call: `__type(name: "${dice.pick(names)}")`, body: dice.pick(aboutType) };
}
