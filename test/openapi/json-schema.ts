/** A JSON Schema (2020-12). Only the keywords of the OpenAPI documents are supported. */
export type Schema = Readonly<Record<string, unknown>>;

/** Validates a value against one keyword and returns the violations. */
type Rule = (value: unknown, argument: never, check: Check) => readonly string[];

interface Check {
  readonly at: string;
  readonly schema: Schema;
  readonly schemas: Schema;
}

/**
 * Finds all violations of a schema, each with its location in the value. `schemas` are the components that it may refer to.
 * @throws Error for an unsupported keyword, so that none is silently ignored.
 */
export function findSchemaViolations(value: unknown, schema: Schema, schemas: Schema, at = "#"): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, argument]) => {
    if (annotations.has(keyword)) return [];
    const rule = rules[keyword];
    if (rule === undefined) throw new Error(`The keyword ${keyword} is not supported.`);
    return rule(value, argument as never, { at, schema, schemas });
  });
}

/** Keywords that do not restrict values. Where a format matters, the schema has a pattern, too. */
const annotations = new Set(["description", "examples", "default", "format"]);

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
// oxlint-disable-next-line typescript/no-misused-spread -- lengths are in code points (JSON Schema Validation, 6.3.1)
const lengthOf = (text: string) => [...text].length;
const unless = (isValid: boolean, { at }: Check, violation: string) => (isValid ? [] : [`${at} ${violation}`]);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value),
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject,
};

const rules: Readonly<Record<string, Rule>> = {
  $ref: (value, ref: string, { at, schemas }) => {
    const target = schemas[ref.replace("#/components/schemas/", "")];
    if (!isObject(target)) throw new Error(`${ref} does not resolve.`);
    return findSchemaViolations(value, target, schemas, at);
  },
  type: (value, type: string | readonly string[], check) =>
    unless(
      [type].flat().some((one) => types[one]?.(value)),
      check,
      `is not of type ${String(type)}`,
    ),
  enum: (value, values: readonly unknown[], check) =>
    unless(values.includes(value), check, "is not a value of the enum"),
  minLength: (value, min: number, check) =>
    unless(typeof value !== "string" || lengthOf(value) >= min, check, "is too short"),
  maxLength: (value, max: number, check) =>
    unless(typeof value !== "string" || lengthOf(value) <= max, check, "is too long"),
  pattern: (value, pattern: string, check) =>
    unless(typeof value !== "string" || new RegExp(pattern, "u").test(value), check, `does not match ${pattern}`),
  minimum: (value, min: number, check) => unless(typeof value !== "number" || value >= min, check, "is too small"),
  maximum: (value, max: number, check) => unless(typeof value !== "number" || value <= max, check, "is too large"),
  minItems: (value, min: number, check) =>
    unless(!Array.isArray(value) || value.length >= min, check, "has too few items"),
  maxItems: (value, max: number, check) =>
    unless(!Array.isArray(value) || value.length <= max, check, "has too many items"),
  items: (value, items: Schema, { at, schemas }) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => findSchemaViolations(item, items, schemas, `${at}/${index}`))
      : [],
  required: (value, names: readonly string[], check) =>
    isObject(value) ? names.flatMap((name) => unless(name in value, check, `lacks ${name}`)) : [],
  properties: (value, properties: Readonly<Record<string, Schema>>, { at, schemas }) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, part]) => {
          const schema = properties[name];
          return schema === undefined ? [] : findSchemaViolations(part, schema, schemas, `${at}/${name}`);
        })
      : [],
  additionalProperties: (value, allowed: boolean, check) => {
    if (allowed || !isObject(value)) return [];
    const known = Object.keys(check.schema["properties"] ?? {});
    return Object.keys(value).flatMap((name) =>
      unless(known.includes(name), check, `has the unknown property ${name}`),
    );
  },
  anyOf: (value, alternatives: readonly Schema[], check) =>
    unless(
      alternatives.some((one) => findSchemaViolations(value, one, check.schemas).length === 0),
      check,
      "matches no alternative",
    ),
};
