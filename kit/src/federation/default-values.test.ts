import fc from "fast-check";
import { buildSchema, type GraphQLObjectType } from "graphql";
import { expect, test } from "vitest";
import { printDefaultValue, printWholeSchema } from "./default-values.ts";

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }).filter((value) => !Object.is(value, -0)),
    fc.string({ unit: "binary" }),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[A-Za-z_]\w{0,4}$/), tie("json"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const types = ["JSON", "[JSON]", "Filter"] as const;

test("any default value of a custom scalar is printed, also within lists and input objects", () => {
  fc.assert(
    fc.property(json, fc.constantFrom(...types), (value, type) => {
      const schema = buildSchema(`
        scalar JSON
        enum Kind { PAPER }
        input Filter { kind: Kind = PAPER, extra: JSON }
        directive @with(filter: ${type}) on FIELD
        type Query { list(filter: ${type}): String }
      `);
      const given = type === "JSON" ? value : type === "[JSON]" ? [value, 1] : { kind: "PAPER", extra: value };
      const [argument] = (schema.getQueryType() as GraphQLObjectType).getFields()["list"]?.args ?? [];
      const [ofDirective] = schema.getDirective("with")?.args ?? [];
      if (!argument || !ofDirective) throw new Error("The schema lacks an argument");
      argument.defaultValue = given;
      ofDirective.defaultValue = given;
      const text = printDefaultValue(argument);
      const printed = buildSchema(printWholeSchema(schema));
      for (const { defaultValue, ...again } of [
        ...(printed.getQueryType()?.getFields()["list"]?.args ?? []),
        ...(printed.getDirective("with")?.args ?? []),
      ]) {
        expect(JSON.stringify(defaultValue)).toBe(JSON.stringify(given));
        expect(printDefaultValue({ ...again, defaultValue })).toBe(text);
      }
    }),
  );
});
