/** The content of a service's codegen.json, which configures its resolver types. Paths are relative to src/graphql/. */
export interface CodegenConfig {
  /** The service's TypeScript type for a GraphQL type: { "User": "../model.ts#User" }. */
  readonly mappers?: Readonly<Record<string, string>>;
  /** The type of a resolver's third argument, such as "./context.ts#Context". Without it, the default of the generator. */
  readonly contextType?: string;
  /** The TypeScript types of custom scalars, such as { "URL": "string" }. Added to { "DateTime": "Date" }. */
  readonly scalars?: Readonly<Record<string, string>>;
}

const referencePattern = /^\.{1,2}\/[\w./-]+\.ts#[A-Za-z]\w*$/;
const keys = ["mappers", "contextType", "scalars"];

/**
 * Parses the text of a codegen.json; without one, `text` is undefined and the defaults apply.
 * @throws Error that names the invalid part.
 */
export function readCodegenConfig(text: string | undefined): CodegenConfig {
  if (text === undefined) return {};
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) throw new Error("codegen.json must contain one object.");
  const unknownKey = Object.keys(config).find((key) => !keys.includes(key));
  if (unknownKey) throw new Error(`codegen.json has the unknown key ${unknownKey}. Its keys are ${keys.join(", ")}.`);
  const { mappers = {}, contextType, scalars = {} } = config;
  const references = [
    ...Object.values(readStrings("mappers", mappers)),
    ...(contextType === undefined ? [] : [contextType]),
  ];
  const wrong = references.find((reference) => typeof reference !== "string" || !referencePattern.test(reference));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not a reference like "../model.ts#User".`);
  return {
    mappers: readStrings("mappers", mappers),
    scalars: readStrings("scalars", scalars),
    ...(typeof contextType === "string" && { contextType }),
  };
}

function readStrings(name: string, value: unknown): Readonly<Record<string, string>> {
  const texts = isRecord(value) ? Object.entries(value) : undefined;
  if (!texts?.every(([, text]) => typeof text === "string"))
    throw new Error(`${name} must be an object whose values are strings.`);
  return Object.fromEntries(texts) as Record<string, string>;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
