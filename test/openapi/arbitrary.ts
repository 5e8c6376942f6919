import fc from "fast-check";
import type { Schema } from "./json-schema.ts";

/** Values that fit a schema. `words` are properties whose schema says less than its description: they take these values. */
export function arbitraryOf(
  schema: Schema,
  schemas: Schema,
  words: Readonly<Record<string, readonly unknown[]>>,
): fc.Arbitrary<unknown> {
  const inner = (part: Schema) => arbitraryOf(part, schemas, words);
  const { $ref, anyOf, enum: values, type } = schema;
  if (typeof $ref === "string") return inner(schemas[$ref.replace("#/components/schemas/", "")] as Schema);
  if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as readonly Schema[]).map(inner));
  if (Array.isArray(values)) return fc.constantFrom(...(values as readonly unknown[]));
  const make = [type].flat().map((one) => simple[String(one)]);
  return fc.oneof(...make.map((one) => one?.(schema, inner, words) ?? fail(schema)));
}

type Make = (
  schema: Schema,
  inner: (part: Schema) => fc.Arbitrary<unknown>,
  words: Readonly<Record<string, readonly unknown[]>>,
) => fc.Arbitrary<unknown>;

const simple: Readonly<Record<string, Make>> = {
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
  object: ({ properties = {}, required = [] }, inner, words) =>
    fc.record(
      Object.fromEntries(
        Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, part]) => [
          name,
          words[name] === undefined ? inner(part) : fc.constantFrom(...words[name]),
        ]),
      ),
      { requiredKeys: required as never[] },
    ),
};

function fail(schema: Schema): never {
  throw new Error(`There are no values for ${JSON.stringify(schema)}.`);
}

const oddities: readonly unknown[] = [
  ...[null, true, 0, -1, 1, 1.5, 99, 100, 1e10, [], {}, [{}]],
  ...["", " ", "\uFEFF", "\u0000", "a\u000Bb", "a\tb\nc", "\u{1F600}", "null", "2026-01-01", "DRAFT", "LIGHT"],
  ...[80, 81, 200, 201, 254, 255, 5_000, 5_001, 100_000, 100_001].map((length) => "x".repeat(length)),
];

/** Such values with one thing changed: a part exchanged for something odd, left out, or one too many put in. */
export function changedOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.record({
    place: fc.nat(50),
    how: fc.constantFrom("exchange", "leaveOut", "add"),
    odd: fc.constantFrom(...oddities),
  });
  return fc.tuple(values, change).map(([value, { place, how, odd }]) => {
    const copy: { it: unknown } = { it: structuredClone(value) };
    const places = placesIn(copy);
    const [holder, name] = places[place % places.length]!;
    if (how === "exchange") holder[name] = odd;
    else if (how === "leaveOut" && Array.isArray(holder)) holder.splice(Number(name), 1);
    else if (how === "leaveOut" && holder !== (copy as unknown)) delete holder[name];
    else if (how === "add")
      Object.assign(holder === (copy as unknown) ? (copy.it as object) : holder, { surplus: odd });
    return copy.it;
  });
}

type Holder = Record<string, unknown>;

function placesIn(value: unknown): readonly (readonly [Holder, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [[value as Holder, name] as const, ...placesIn(part)]);
}
