import fc from "fast-check";
import type { GraphQLSchema } from "graphql";
import { createDice, type Dice } from "./dice.ts";
import { createSelectionWriter, type GeneratorOptions } from "./generate-selections.ts";
import type { Operation } from "./operation.ts";

/**
 * Valid operations for this schema: aliases, fragments named and inline and spread several times, `@skip`, `@include`, variables,
 * `__typename`, introspection, several operations in one document.
 */
export function generateOperations(schema: GraphQLSchema, o: GeneratorOptions): fc.Arbitrary<Operation> {
  const numbers = fc.array(fc.nat({ max: 9_999 }), { minLength: 20, maxLength: 200, size: "max" });
  return numbers.map((numbers) => writeOperation(schema, createDice(numbers), o));
}

function writeOperation(schema: GraphQLSchema, dice: Dice, o: GeneratorOptions): Operation {
  const mutation = schema.getMutationType();
  const [word, root] = mutation && dice.chance(40) ? ["mutation", mutation] : ["query", schema.getQueryType()];
  if (!root) throw new Error("A schema has a query type");
  const writer = createSelectionWriter(schema, dice, o);
  const body = writer.writeSelectionSet(root, "", { depth: 1, nesting: 0 });
  const { definitions, variables } = writer.argumentWriter;
  const hasSibling = dice.chance(8);
  const name = hasSibling || dice.chance(50) ? " Generated" : "";
  const head = `${word}${name}${definitions.length > 0 ? `(${definitions.join(", ")})` : ""}`;
  const siblings = hasSibling ? ["query Other { __typename }"] : [];
  return {
    query: [...siblings, `${head} ${body}`, ...writer.listFragments()].join("\n"),
    variables,
    ...(hasSibling && { operationName: "Generated" }),
  };
}
