// Compares two JSON schemas of one parameter or body: types, limits, enum values, properties, items. Called by openapi-changes.ts, which compares
// the other parts of an operation.
import type { Json } from "@tributary/kit/openapi/schema-book";

/** A difference that can affect clients. The message begins with its location: `the body/lines/quantity …`. */
export interface SchemaChange {
  readonly level: "breaking" | "dangerous";
  readonly message: string;
}

export interface SchemaComparison {
  /** `input`: the server must accept every value that it accepted. `output`: it must send only values that clients expect. */
  readonly direction: "input" | "output";
  readonly schemasBefore: Json;
  readonly schemasAfter: Json;
  /** The pairs of references around the compared schemas: a schema may contain itself, such as a comment its replies. */
  readonly enclosing?: ReadonlySet<string>;
}

/**
 * Finds input values that are no longer accepted, or output values that are new. Not reported: new properties of output objects, and changed limits
 * (`maxLength`, `pattern`, …) of output values.
 * @param location what messages begin with, such as `the body`.
 */
export function compareSchemas(before: Json, after: Json, outer: SchemaComparison, location: string): SchemaChange[] {
  const pair = `${String(before["$ref"])} ${String(after["$ref"])}`;
  const isPair = typeof before["$ref"] === "string" && typeof after["$ref"] === "string";
  if (isPair && outer.enclosing?.has(pair)) return [];
  const comparison = isPair ? { ...outer, enclosing: new Set(outer.enclosing).add(pair) } : outer;
  const alternativesBefore = listAlternatives(before, comparison.schemasBefore);
  const alternativesAfter = listAlternatives(after, comparison.schemasAfter);
  const [firstBefore, ...othersBefore] = alternativesBefore;
  const [firstAfter, ...othersAfter] = alternativesAfter;
  if (firstBefore && firstAfter && othersBefore.length + othersAfter.length === 0) {
    return compareSingle(firstBefore, firstAfter, comparison, location);
  }
  // Input: each former alternative must still match a current one. Output: each current alternative must match a former one. Each is compared with
  // the alternatives of its type, and the comparison with the fewest differences counts.
  const isInput = comparison.direction === "input";
  const [sent, expected] = isInput ? [alternativesBefore, alternativesAfter] : [alternativesAfter, alternativesBefore];
  return sent.flatMap((one) => {
    const attempts = expected
      .filter((other) => typeOf(other) === typeOf(one))
      .map((other) =>
        isInput ? compareSingle(one, other, comparison, location) : compareSingle(other, one, comparison, location),
      );
    if (attempts.length === 0)
      return [breaking(`${location} ${isInput ? "no longer accepts" : "may now be"} ${typeOf(one)}`)];
    return attempts.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
}

/** The alternatives of a schema, with references resolved: the members of `anyOf`, or one schema for each of several types. */
function listAlternatives(schema: Json, schemas: Json): readonly Json[] {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === "string")
    return listAlternatives(getSchema(schemas, $ref.replace("#/components/schemas/", "")), schemas);
  if (Array.isArray(anyOf)) return (anyOf as readonly Json[]).flatMap((one) => listAlternatives(one, schemas));
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...schema, type: one }));
  return [schema];
}

function compareSingle(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  if (typeOf(before) !== typeOf(after))
    return [breaking(`${location} changed from ${typeOf(before)} to ${typeOf(after)}`)];
  const limitChanges = comparison.direction === "input" ? compareLimits(before, after, location) : [];
  return [
    ...limitChanges,
    ...compareValues(before, after, comparison, location),
    ...compareProperties(before, after, comparison, location),
    ...compareItems(before, after, comparison, location),
  ];
}

/** With 1, a smaller number is tighter; with -1, a larger one. */
const limitKeywords: readonly (readonly [string, 1 | -1])[] = [
  ["maxLength", 1],
  ["maximum", 1],
  ["maxItems", 1],
  ["minLength", -1],
  ["minimum", -1],
  ["minItems", -1],
];

/** For input only. `pattern` and `format` are compared as texts: any change of them counts as breaking. */
function compareLimits(before: Json, after: Json, location: string): SchemaChange[] {
  const tighter = ([limit, sign]: readonly [string, 1 | -1]) => {
    const [was, is] = [before[limit], after[limit]];
    return typeof is === "number" && (typeof was !== "number" || sign * is < sign * was);
  };
  const changed = (keyword: string) => after[keyword] !== undefined && after[keyword] !== before[keyword];
  return [
    ...limitKeywords.filter(tighter).map(([limit]) => breaking(`${location} has a tighter ${limit}`)),
    ...["pattern", "format"].filter(changed).map((keyword) => breaking(`${location} has another ${keyword}`)),
  ];
}

function compareValues(before: Json, after: Json, { direction }: SchemaComparison, location: string): SchemaChange[] {
  const [was, is] = [before["enum"], after["enum"]] as readonly (readonly unknown[] | undefined)[];
  if (direction === "input") {
    if (is === undefined) return [];
    if (was === undefined) return [breaking(`${location} now accepts only listed values`)];
    return was
      .filter((value) => !is.includes(value))
      .map((value) => breaking(`${location} no longer accepts ${String(value)}`));
  }
  if (was === undefined) return [];
  if (is === undefined) return [dangerous(`${location} may now be any ${typeOf(after)}`)];
  return is
    .filter((value) => !was.includes(value))
    .map((value) => dangerous(`${location} may now be ${String(value)}`));
}

function compareProperties(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const was = propertiesOf(before);
  const is = propertiesOf(after);
  const isInput = comparison.direction === "input";
  const isClosed = after["additionalProperties"] === false;
  const removed = Object.keys(was).filter((name) => is[name] === undefined);
  const requirementChanged = isInput
    ? requiredOnlyIn(after, before)
    : requiredOnlyIn(before, after).filter((name) => is[name] !== undefined);
  // An input object that allows unknown properties still accepts a removed one.
  return [
    ...removed.flatMap((name) => (isInput && !isClosed ? [] : [breaking(`${location}/${name} was removed`)])),
    ...requirementChanged.map((name) =>
      breaking(`${location}/${name} is ${isInput ? "now required" : "no longer always present"}`),
    ),
    ...(isInput && isClosed && before["additionalProperties"] !== false
      ? [breaking(`${location} no longer accepts unknown properties`)]
      : []),
    ...Object.entries(was).flatMap(([name, schema]) => {
      const successor = is[name];
      return successor === undefined ? [] : compareSchemas(schema, successor, comparison, `${location}/${name}`);
    }),
  ];
}

/** Properties that the first schema requires and the second one does not. */
function requiredOnlyIn(one: Json, other: Json): readonly string[] {
  const names = (schema: Json) => (schema["required"] ?? []) as readonly string[];
  return names(one).filter((name) => !names(other).includes(name));
}

function compareItems(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const [was, is] = [before["items"], after["items"]] as readonly (Json | undefined)[];
  if (was !== undefined && is !== undefined) return compareSchemas(was, is, comparison, `${location}/*`);
  // Without `items`, an entry may be any value.
  const [accepted, current] = comparison.direction === "input" ? [is, was] : [was, is];
  if (accepted === undefined || current !== undefined) return [];
  return [breaking(`${location}/* ${comparison.direction === "input" ? "no longer accepts" : "may now be"} any value`)];
}

function propertiesOf(schema: Json): Readonly<Record<string, Json>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
}

function getSchema(schemas: Json, name: string): Json {
  const schema = schemas[name];
  if (typeof schema !== "object" || schema === null) throw new Error(`The document has no schema ${name}.`);
  return schema as Json;
}

function typeOf({ type }: Json): string {
  return typeof type === "string" ? type : "of any type";
}

function breaking(message: string): SchemaChange {
  return { level: "breaking", message };
}

function dangerous(message: string): SchemaChange {
  return { level: "dangerous", message };
}
