import type { Json } from "@tributary/kit/openapi/schema-book";

/** A difference that a client can feel, in words that begin with the place: `the body's /lines/quantity …`. */
export interface SchemaChange {
  readonly level: "breaking" | "dangerous";
  readonly message: string;
}

export interface SchemaComparison {
  /** `input`: whatever was taken has to be taken. `output`: whoever read what was sent has to understand what is sent. */
  readonly direction: "input" | "output";
  /** The named schemas of each document. */
  readonly schemasBefore: Json;
  readonly schemasAfter: Json;
}

/** What a schema no longer takes (input), or sends otherwise than before (output). New properties in answers are no change. */
export function compareSchemas(before: Json, after: Json, comparison: SchemaComparison, at: string): SchemaChange[] {
  const choicesBefore = choicesOf(before, comparison.schemasBefore);
  const choicesAfter = choicesOf(after, comparison.schemasAfter);
  const [onlyBefore, ...othersBefore] = choicesBefore;
  const [onlyAfter, ...othersAfter] = choicesAfter;
  if (onlyBefore && onlyAfter && othersBefore.length + othersAfter.length === 0) {
    return compareSingle(onlyBefore, onlyAfter, comparison, at);
  }
  // Each choice of the one side has to be among those of the other; which side depends on who reads.
  const isInput = comparison.direction === "input";
  const [asked, given] = isInput ? [choicesBefore, choicesAfter] : [choicesAfter, choicesBefore];
  return asked.flatMap((one) => {
    const attempts = given
      .filter((other) => typeOf(other) === typeOf(one))
      .map((other) =>
        isInput ? compareSingle(one, other, comparison, at) : compareSingle(other, one, comparison, at),
      );
    if (attempts.length === 0) return [breaking(`${at} ${isInput ? "no longer takes" : "may now be"} ${typeOf(one)}`)];
    return attempts.toSorted((a, b) => a.length - b.length)[0] ?? [];
  });
}

/** References followed, and one choice for each of several types. */
function choicesOf(schema: Json, schemas: Json): readonly Json[] {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === "string") return choicesOf(partOf(schemas, $ref.replace("#/components/schemas/", "")), schemas);
  if (Array.isArray(anyOf)) return (anyOf as readonly Json[]).flatMap((one) => choicesOf(one, schemas));
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...schema, type: one }));
  return [schema];
}

function compareSingle(before: Json, after: Json, comparison: SchemaComparison, at: string): SchemaChange[] {
  if (typeOf(before) !== typeOf(after)) return [breaking(`${at} was ${typeOf(before)}, and is ${typeOf(after)}`)];
  const limits = comparison.direction === "input" ? compareLimits(before, after, at) : [];
  return [
    ...limits,
    ...compareValues(before, after, comparison, at),
    ...compareProperties(before, after, comparison, at),
    ...compareItems(before, after, comparison, at),
  ];
}

function compareLimits(before: Json, after: Json, at: string): SchemaChange[] {
  const tighter = ([limit, sign]: readonly [string, 1 | -1]) => {
    const [was, is] = [before[limit], after[limit]];
    return typeof is === "number" && (typeof was !== "number" || sign * is < sign * was);
  };
  const other = (keyword: string) => after[keyword] !== undefined && after[keyword] !== before[keyword];
  return [
    ...limits.filter(tighter).map(([limit]) => breaking(`${at} has a tighter ${limit}`)),
    ...["pattern", "format"].filter(other).map((keyword) => breaking(`${at} has another ${keyword}`)),
  ];
}

/** With 1 a smaller number is tighter, with -1 a larger one. */
const limits: readonly (readonly [string, 1 | -1])[] = [
  ["maxLength", 1],
  ["maximum", 1],
  ["maxItems", 1],
  ["minLength", -1],
  ["minimum", -1],
  ["minItems", -1],
];

function compareValues(before: Json, after: Json, { direction }: SchemaComparison, at: string): SchemaChange[] {
  const [was, is] = [before["enum"], after["enum"]] as readonly (readonly unknown[] | undefined)[];
  if (direction === "input") {
    if (is === undefined) return [];
    if (was === undefined) return [breaking(`${at} takes certain values only`)];
    return was
      .filter((value) => !is.includes(value))
      .map((value) => breaking(`${at} no longer takes ${String(value)}`));
  }
  if (was === undefined) return [];
  if (is === undefined) return [dangerous(`${at} may now be any ${typeOf(after)}`)];
  return is.filter((value) => !was.includes(value)).map((value) => dangerous(`${at} may now be ${String(value)}`));
}

function compareProperties(before: Json, after: Json, comparison: SchemaComparison, at: string): SchemaChange[] {
  const was = propertiesOf(before);
  const is = propertiesOf(after);
  const isInput = comparison.direction === "input";
  const isClosed = after["additionalProperties"] === false;
  const gone = Object.keys(was).filter((name) => is[name] === undefined);
  const needed = isInput
    ? missingFrom(before, after)
    : missingFrom(after, before).filter((name) => is[name] !== undefined);
  return [
    ...gone.flatMap((name) => (isInput && !isClosed ? [] : [breaking(`${at}/${name} was removed`)])),
    ...needed.map((name) => breaking(`${at}/${name} is ${isInput ? "needed now" : "no longer always there"}`)),
    ...(isInput && isClosed && before["additionalProperties"] !== false && before["type"] === "object"
      ? [breaking(`${at} no longer takes unknown properties`)]
      : []),
    ...Object.entries(was).flatMap(([name, schema]) => {
      const successor = is[name];
      return successor === undefined ? [] : compareSchemas(schema, successor, comparison, `${at}/${name}`);
    }),
  ];
}

/** Names that `to` requires and `from` does not. */
function missingFrom(from: Json, to: Json): readonly string[] {
  const names = (schema: Json) => (schema["required"] ?? []) as readonly string[];
  return names(to).filter((name) => !names(from).includes(name));
}

function compareItems(before: Json, after: Json, comparison: SchemaComparison, at: string): SchemaChange[] {
  const [was, is] = [before["items"], after["items"]] as readonly (Json | undefined)[];
  return was === undefined || is === undefined ? [] : compareSchemas(was, is, comparison, `${at}/*`);
}

function propertiesOf(schema: Json): Readonly<Record<string, Json>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
}

function partOf(schemas: Json, name: string): Json {
  const part = schemas[name];
  if (typeof part !== "object" || part === null) throw new Error(`There is no schema ${name}.`);
  return part as Json;
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
