import fc from "fast-check";
import type { Schema } from "./json-schema.ts";

/**
 * Generates values that conform to a schema. `examples` has the values of properties whose description restricts more than their
 * schema.
 */
export function arbitraryOf(
  schema: Schema,
  schemas: Schema,
  examples: Readonly<Record<string, readonly unknown[]>>,
): fc.Arbitrary<unknown> {
  const inner = (part: Schema) => arbitraryOf(part, schemas, examples);
  const { $ref, anyOf, enum: values, type } = schema;
  if (typeof $ref === "string") return inner(schemas[$ref.replace("#/components/schemas/", "")] as Schema);
  if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as readonly Schema[]).map(inner));
  if (Array.isArray(values)) return fc.constantFrom(...(values as readonly unknown[]));
  const generators = [type].flat().map((one) => generatorByType[String(one)]);
  return fc.oneof(...generators.map((generate) => generate?.(schema, inner, examples) ?? fail(schema)));
}

type Generator = (
  schema: Schema,
  inner: (part: Schema) => fc.Arbitrary<unknown>,
  examples: Readonly<Record<string, readonly unknown[]>>,
) => fc.Arbitrary<unknown>;

const generatorByType: Readonly<Record<string, Generator>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum, maximum }) => fc.integer({ min: Number(minimum), max: Number(maximum) }),
  string: ({ pattern, minLength = 0, maxLength = 1_000 }) =>
    fc
      .stringMatching(new RegExp(typeof pattern === "string" ? pattern : "", "u"))
      // oxlint-disable-next-line typescript/no-misused-spread -- lengths are in code points
      .filter((text) => [...text].length >= Number(minLength) && [...text].length <= Number(maxLength)),
  array: ({ items, minItems = 0 }, inner) =>
    fc.array(inner(items as Schema), { minLength: Number(minItems), maxLength: Number(minItems) + 3 }),
  object: ({ properties = {}, required = [] }, inner, examples) =>
    fc.record(
      Object.fromEntries(
        Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, part]) => [
          name,
          examples[name] === undefined ? inner(part) : fc.constantFrom(...examples[name]),
        ]),
      ),
      { requiredKeys: required as never[] },
    ),
};

function fail(schema: Schema): never {
  throw new Error(`No generator for ${JSON.stringify(schema)}.`);
}

const unusualValues: readonly unknown[] = [
  ...[null, true, 0, -1, 1, 1.5, 99, 100, 1e10, [], {}, [{}]],
  ...["", " ", "\uFEFF", "\u0000", "a\u000Bb", "a\tb\nc", "\u{1F600}", "null", "2026-01-01", "DRAFT", "LIGHT"],
  ...[80, 81, 200, 201, 254, 255, 5_000, 5_001, 100_000, 100_001].map((length) => "x".repeat(length)),
];

/** Generated values with one mutation: a part is replaced by an unusual value, removed, or added. */
export function mutate(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.record({
    position: fc.nat(50),
    kind: fc.constantFrom("replace", "remove", "add"),
    unusual: fc.constantFrom(...unusualValues),
  });
  return fc.tuple(values, change).map(([value, { position, kind, unusual }]) => {
    const root: { value: unknown } = { value: structuredClone(value) };
    const properties = listProperties(root);
    const [parent, name] = properties[position % properties.length]!;
    if (kind === "replace") parent[name] = unusual;
    else if (kind === "remove" && Array.isArray(parent)) parent.splice(Number(name), 1);
    else if (kind === "remove" && parent !== (root as unknown)) delete parent[name];
    else if (kind === "add")
      Object.assign(parent === (root as unknown) ? (root.value as object) : parent, { surplus: unusual });
    return root.value;
  });
}

type Parent = Record<string, unknown>;

function listProperties(value: unknown): readonly (readonly [Parent, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [[value as Parent, name] as const, ...listProperties(part)]);
}
