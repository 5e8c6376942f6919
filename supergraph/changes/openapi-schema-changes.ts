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

/** Alternatives have members in common, whose changes count once. */
function compareAlternatives(
  before: readonly Json[],
  after: readonly Json[],
  comparison: SchemaComparison,
  location: string,
): SchemaChange[] {
  const changes = compareCounterparts(before, after, comparison, location);
  return [...new Map(changes.map((change) => [change.message, change])).values()];
}

/** The comparison with the fewest changes counts. */
function compareCounterparts(
  before: readonly Json[],
  after: readonly Json[],
  comparison: SchemaComparison,
  location: string,
): SchemaChange[] {
  // Input: each former alternative must still match a current one.
  if (comparison.direction === "input") {
    return before.flatMap((former) => {
      const counterparts = after.filter((current) => includesType(current, former));
      const results = counterparts.map((current) => compareSingle(former, current, comparison, location));
      return shortestOf(results) ?? [breaking(`${location} no longer accepts ${typeOf(former)}`)];
    });
  }
  // Output: each current alternative must match a former one.
  return after.flatMap((current) => {
    const counterparts = before.filter((former) => includesType(former, current));
    const results = counterparts.map((former) => compareSingle(former, current, comparison, location));
    return shortestOf(results) ?? [breaking(`${location} may now be ${typeOf(current)}`)];
  });
}

function shortestOf(results: readonly SchemaChange[][]): SchemaChange[] | undefined {
  return results.toSorted((a, b) => a.length - b.length)[0];
}

/** One schema for each combination of members of `anyOf` and `oneOf`, and for each of several types, with what is required beside them. */
function listAlternatives(schema: Json, schemas: Json): readonly Json[] {
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  const required = [
    ...(typeof $ref === "string" ? [getSchema(schemas, $ref.replace("#/components/schemas/", ""))] : []),
    ...(Array.isArray(allOf) ? (allOf as readonly Json[]) : []),
  ].map((member) => listAlternatives(member, schemas));
  const chosen = [anyOf, oneOf]
    .filter((members) => Array.isArray(members))
    .map((members) => (members as readonly Json[]).flatMap((member) => listAlternatives(member, schemas)));
  return [...required, ...chosen, listTypes(own)].reduce((left, right) =>
    left.flatMap((a) => right.flatMap((b) => intersect(a, b))),
  );
}

function listTypes(schema: Json): readonly Json[] {
  const { type, const: value } = schema;
  const listed = value === undefined ? schema : { ...schema, enum: [value] };
  return Array.isArray(type) ? type.map((singleType: unknown) => ({ ...listed, type: singleType })) : [listed];
}

/** One schema, or none if no value has both types. Of limits and values that both have, those of `b`. */
function intersect(a: Json, b: Json): readonly Json[] {
  if (!includesType(a, b) && !includesType(b, a)) return [];
  const { type } = includesType(a, b) ? b : a;
  const properties = { ...propertiesOf(a), ...propertiesOf(b) };
  const required = [...new Set([a["required"] ?? [], b["required"] ?? []].flat())];
  return [{ ...a, ...b, type, ...(Object.keys(properties).length > 0 && { properties }), required }];
}

function compareSingle(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const isInput = comparison.direction === "input";
  if (!(isInput ? includesType(after, before) : includesType(before, after)))
    return [breaking(`${location} changed from ${typeOf(before)} to ${typeOf(after)}`)];
  return [
    ...(isInput ? [...compareDefaults(before, after, location), ...compareLimits(before, after, location)] : []),
    ...compareValues(before, after, comparison, location),
    ...compareProperties(before, after, comparison, location),
    ...compareItems(before, after, comparison, location),
    ...compareMembers(before, after, comparison, location),
  ];
}

/** Of a request without the value. */
function compareDefaults(before: Json, after: Json, location: string): SchemaChange[] {
  if (before["default"] === undefined || isEqual(before["default"], after["default"])) return [];
  return [dangerous(`${location} has another default`)];
}

const upperLimits: readonly string[] = ["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"];
const lowerLimits: readonly string[] = ["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"];
/** Compared as texts. */
const rules: readonly string[] = (
  "pattern format multipleOf uniqueItems not if then else contains minContains maxContains prefixItems propertyNames patternProperties " +
  "dependentRequired dependentSchemas"
).split(" ");

/** A removed rule breaks nothing, and neither does a pattern with an alternative after the former one. */
function compareLimits(before: Json, after: Json, location: string): SchemaChange[] {
  const tighterLimits = [
    ...upperLimits.filter((limit) => isLowered(before[limit], after[limit])),
    ...lowerLimits.filter((limit) => isRaised(before[limit], after[limit])),
  ];
  const changedRules = rules.filter(
    (keyword) =>
      (after[keyword] ?? false) !== false &&
      !isEqual(after[keyword], before[keyword]) &&
      !isWidened(keyword, before, after),
  );
  return [
    ...tighterLimits.map((limit) => breaking(`${location} has a tighter ${limit}`)),
    ...changedRules.map((keyword) => breaking(`${location} has another ${keyword}`)),
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
  // A property without a schema of its own has that of every other one.
  for (const name of new Set([formerProperties, currentProperties].flatMap(Object.keys))) {
    const former = formerProperties[name] ?? before["additionalProperties"];
    const current = currentProperties[name] ?? after["additionalProperties"];
    if (isSchema(former) && isSchema(current))
      changes.push(...compareSchemas(former, current, comparison, `${location}/${name}`));
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
  const [former, current] = [before["additionalProperties"] ?? true, after["additionalProperties"] ?? true];
  if (!isSchema(former) && !isSchema(current)) return [];
  // `true` allows any value, and `false` is reported by `compareProperties`.
  if (former === false || current === false) return [];
  return compareSchemas(isSchema(former) ? former : {}, isSchema(current) ? current : {}, comparison, `${location}/*`);
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

const anyType = "any value";

function typeOf({ type }: Json): string {
  return typeof type === "string" ? type : anyType;
}

/** Whether each value of the second type is one of the first. */
function includesType(outer: Json, inner: Json): boolean {
  const [type, innerType] = [typeOf(outer), typeOf(inner)];
  return type === innerType || type === anyType || (type === "number" && innerType === "integer");
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function breaking(message: string): SchemaChange {
  return { level: "breaking", message };
}

function dangerous(message: string): SchemaChange {
  return { level: "dangerous", message };
}
