/** A schema of our documents: as much of JSON Schema (2020-12) as they use. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a keyword finds wrong with a value. */
type Rule = (value: unknown, wanted: never, check: Check) => readonly string[];

interface Check {
  readonly at: string;
  readonly schema: Schema;
  readonly schemas: Schema;
}

/**
 * Everything in which a value does not fit a schema, by its place; `schemas` are those that it may refer to.
 * @throws Error for a keyword that is not known here, so that none is passed over.
 */
export function findMisfits(value: unknown, schema: Schema, schemas: Schema, at = "#"): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, wanted]) => {
    if (silent.has(keyword)) return [];
    const rule = rules[keyword];
    if (rule === undefined) throw new Error(`The keyword ${keyword} is not known here.`);
    return rule(value, wanted as never, { at, schema, schemas });
  });
}

/** They describe, and refuse nothing. (Formats are said again by patterns, where they matter.) */
const silent = new Set(["description", "examples", "default", "format"]);

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
// oxlint-disable-next-line typescript/no-misused-spread -- lengths are in code points (JSON Schema Validation, 6.3.1)
const lengthOf = (text: string) => [...text].length;
const unless = (holds: boolean, { at }: Check, what: string) => (holds ? [] : [`${at} ${what}`]);

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
    if (!isObject(target)) throw new Error(`${ref} leads nowhere.`);
    return findMisfits(value, target, schemas, at);
  },
  type: (value, type: string | readonly string[], check) =>
    unless(
      [type].flat().some((one) => types[one]?.(value)),
      check,
      `is no ${String(type)}`,
    ),
  enum: (value, values: readonly unknown[], check) => unless(values.includes(value), check, "is none of the values"),
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
    Array.isArray(value) ? value.flatMap((item, index) => findMisfits(item, items, schemas, `${at}/${index}`)) : [],
  required: (value, names: readonly string[], check) =>
    isObject(value) ? names.flatMap((name) => unless(name in value, check, `lacks ${name}`)) : [],
  properties: (value, properties: Readonly<Record<string, Schema>>, { at, schemas }) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, part]) => {
          const schema = properties[name];
          return schema === undefined ? [] : findMisfits(part, schema, schemas, `${at}/${name}`);
        })
      : [],
  additionalProperties: (value, allowed: boolean, check) => {
    if (allowed || !isObject(value)) return [];
    const known = Object.keys(check.schema["properties"] ?? {});
    return Object.keys(value).flatMap((name) => unless(known.includes(name), check, `has ${name}, which is not known`));
  },
  anyOf: (value, choices: readonly Schema[], check) =>
    unless(
      choices.some((one) => findMisfits(value, one, check.schemas).length === 0),
      check,
      "fits no choice",
    ),
};
