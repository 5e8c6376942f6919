// Compares two JSON schemas of one parameter or body: types, limits, enum values, properties, items. Called by openapi-changes.ts, which compares
// the other parts of an operation.
import type { Json } from "@tributary/kit/json/json";

/** The message begins with its location: `the body/lines/quantity …`. */
export interface SchemaChange {
  readonly level: "breaking" | "dangerous";
  readonly message: string;
}

export interface SchemaComparison {
  /** `input`: the server must accept every value that it accepted. `output`: it must send only values that clients expect. */
  readonly direction: "input" | "output";
  readonly schemasBefore: Json;
  readonly schemasAfter: Json;
  /** The pairs of schemas with a `$ref` around this one, which may contain itself, as a comment its replies. */
  readonly enclosing?: ReadonlySet<string>;
}

/** Not reported: new properties of output objects, and changed limits (`maxLength`, `pattern`, …) of output values. */
export function compareSchemas(before: Json, after: Json, outer: SchemaComparison, location: string): SchemaChange[] {
  const pair = JSON.stringify([before, after]);
  if (outer.enclosing?.has(pair)) return [];
  const comparison = { ...outer, enclosing: new Set(outer.enclosing).add(pair) };
  const alternativesBefore = listAlternatives(before, comparison.schemasBefore);
  const alternativesAfter = listAlternatives(after, comparison.schemasAfter);
  const [onlyBefore, ...othersBefore] = alternativesBefore;
  const [onlyAfter, ...othersAfter] = alternativesAfter;
  if (onlyBefore && onlyAfter && othersBefore.length === 0 && othersAfter.length === 0) {
    return compareSingle(onlyBefore, onlyAfter, comparison, location);
  }
  return compareAlternatives(alternativesBefore, alternativesAfter, comparison, location);
}

/** The comparison with the fewest changes counts. */
function compareAlternatives(
  before: readonly Json[],
  after: readonly Json[],
  comparison: SchemaComparison,
  location: string,
): SchemaChange[] {
  // Input: each former alternative must still match a current one.
  if (comparison.direction === "input") {
    return before.flatMap((former) => {
      const counterparts = after.filter((current) => typeOf(current) === typeOf(former));
      const results = counterparts.map((current) => compareSingle(former, current, comparison, location));
      return shortestOf(results) ?? [breaking(`${location} no longer accepts ${typeOf(former)}`)];
    });
  }
  // Output: each current alternative must match a former one.
  return after.flatMap((current) => {
    const counterparts = before.filter((former) => typeOf(former) === typeOf(current));
    const results = counterparts.map((former) => compareSingle(former, current, comparison, location));
    return shortestOf(results) ?? [breaking(`${location} may now be ${typeOf(current)}`)];
  });
}

function shortestOf(results: readonly SchemaChange[][]): SchemaChange[] | undefined {
  return results.toSorted((a, b) => a.length - b.length)[0];
}

/** The members of `anyOf` or `oneOf`, or one schema for each of several types. */
function listAlternatives(schema: Json, schemas: Json): readonly Json[] {
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  if (typeof $ref === "string")
    return listAlternatives(getSchema(schemas, $ref.replace("#/components/schemas/", "")), schemas);
  if (Array.isArray(allOf)) {
    const members = (allOf as readonly Json[]).map((member) => listAlternatives(member, schemas));
    return members.reduce((left, right) => left.flatMap((a) => right.map((b) => intersect(a, b))), [own]);
  }
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives))
    return (alternatives as readonly Json[]).flatMap((member) => listAlternatives(member, schemas));
  if (Array.isArray(own["type"])) return own["type"].map((singleType: unknown) => ({ ...own, type: singleType }));
  return [own["const"] === undefined ? own : { ...own, enum: [own["const"]] }];
}

/** Of limits and values that both have, those of `b`. */
function intersect(a: Json, b: Json): Json {
  const properties = { ...propertiesOf(a), ...propertiesOf(b) };
  const required = [...new Set([a["required"] ?? [], b["required"] ?? []].flat())];
  return { ...a, ...b, ...(Object.keys(properties).length > 0 && { properties }), required };
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
    ...compareMembers(before, after, comparison, location),
  ];
}

const upperLimits: readonly string[] = ["maxLength", "maximum", "exclusiveMaximum", "maxItems"];
const lowerLimits: readonly string[] = ["minLength", "minimum", "exclusiveMinimum", "minItems"];

/**
 * `pattern` and `format` are compared as texts: a removed one breaks nothing, and neither does a pattern with an alternative after the former one.
 */
function compareLimits(before: Json, after: Json, location: string): SchemaChange[] {
  const tighterLimits = [
    ...upperLimits.filter((limit) => isLowered(before[limit], after[limit])),
    ...lowerLimits.filter((limit) => isRaised(before[limit], after[limit])),
  ];
  const changedFormats = ["pattern", "format"].filter(
    (keyword) =>
      after[keyword] !== undefined && after[keyword] !== before[keyword] && !isWidened(keyword, before, after),
  );
  return [
    ...tighterLimits.map((limit) => breaking(`${location} has a tighter ${limit}`)),
    ...changedFormats.map((keyword) => breaking(`${location} has another ${keyword}`)),
  ];
}

/** `old|new` matches whatever `old` does: an alternation has the lowest precedence, if `old` is a whole pattern. */
function isWidened(keyword: string, before: Json, after: Json): boolean {
  const { [keyword]: former } = before;
  return keyword === "pattern" && typeof former === "string" && String(after[keyword]).startsWith(`${former}|`);
}

/** Also true for a new upper limit. */
function isLowered(before: unknown, after: unknown): boolean {
  if (typeof after !== "number") return false;
  return typeof before !== "number" || after < before;
}

/** Also true for a new lower limit. */
function isRaised(before: unknown, after: unknown): boolean {
  if (typeof after !== "number") return false;
  return typeof before !== "number" || after > before;
}

function compareValues(before: Json, after: Json, { direction }: SchemaComparison, location: string): SchemaChange[] {
  const formerValues = before["enum"] as readonly unknown[] | undefined;
  const currentValues = after["enum"] as readonly unknown[] | undefined;
  if (direction === "input") {
    if (currentValues === undefined) return [];
    if (formerValues === undefined) return [breaking(`${location} now accepts only listed values`)];
    const removedValues = formerValues.filter((value) => !currentValues.includes(value));
    return removedValues.map((value) => breaking(`${location} no longer accepts ${String(value)}`));
  }
  if (formerValues === undefined) return [];
  if (currentValues === undefined) return [dangerous(`${location} may now be any ${typeOf(after)}`)];
  const newValues = currentValues.filter((value) => !formerValues.includes(value));
  return newValues.map((value) => dangerous(`${location} may now be ${String(value)}`));
}

function compareProperties(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const formerProperties = propertiesOf(before);
  const currentProperties = propertiesOf(after);
  const isInput = comparison.direction === "input";
  const wasClosed = before["additionalProperties"] === false;
  const isClosed = after["additionalProperties"] === false;
  const changes: SchemaChange[] = [];
  // An input object that allows unknown properties still accepts a removed one.
  const removalBreaks = !isInput || isClosed;
  if (removalBreaks) {
    const removed = Object.keys(formerProperties).filter((name) => currentProperties[name] === undefined);
    for (const name of removed) changes.push(breaking(`${location}/${name} was removed`));
  }
  if (isInput) {
    for (const name of requiredOnlyIn(after, before)) changes.push(breaking(`${location}/${name} is now required`));
    if (isClosed && !wasClosed) changes.push(breaking(`${location} no longer accepts unknown properties`));
  } else {
    const optionalNow = requiredOnlyIn(before, after).filter((name) => currentProperties[name] !== undefined);
    for (const name of optionalNow) changes.push(breaking(`${location}/${name} is no longer always present`));
  }
  for (const [name, schema] of Object.entries(formerProperties)) {
    const successor = currentProperties[name];
    if (successor !== undefined) changes.push(...compareSchemas(schema, successor, comparison, `${location}/${name}`));
  }
  return changes;
}

function requiredOnlyIn(first: Json, second: Json): readonly string[] {
  const requiredBySecond = requiredOf(second);
  return requiredOf(first).filter((name) => !requiredBySecond.includes(name));
}

function requiredOf(schema: Json): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}

function compareItems(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const formerItems = before["items"] as Json | undefined;
  const currentItems = after["items"] as Json | undefined;
  if (formerItems !== undefined && currentItems !== undefined)
    return compareSchemas(formerItems, currentItems, comparison, `${location}/*`);
  const isInput = comparison.direction === "input";
  if (isInput && currentItems !== undefined) return [breaking(`${location}/* no longer accepts any value`)];
  if (!isInput && formerItems !== undefined) return [breaking(`${location}/* may now be any value`)];
  return [];
}

/** Of an object with any names. */
function compareMembers(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const former = before["additionalProperties"];
  const current = after["additionalProperties"];
  if (!isSchema(former) || !isSchema(current)) return [];
  return compareSchemas(former, current, comparison, `${location}/*`);
}

function isSchema(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
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

export function breaking(message: string): SchemaChange {
  return { level: "breaking", message };
}

function dangerous(message: string): SchemaChange {
  return { level: "dangerous", message };
}
