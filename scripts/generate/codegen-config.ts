/** What a service's codegen.json may say about its resolver types. Paths are from src/graphql/. */
export interface CodegenConfig {
  /** The service's own type behind a GraphQL type: { "User": "../model.ts#User" }. */
  readonly mappers?: Readonly<Record<string, string>>;
  /** The type of a resolver's third argument: "./context.ts#Context". */
  readonly contextType?: string;
  /** The type behind a custom scalar: { "DateTime": "Date" } (which is the default), { "URL": "string" }. */
  readonly scalars?: Readonly<Record<string, string>>;
}

const referencePattern = /^\.{1,2}\/[\w./-]+\.ts#[A-Za-z]\w*$/;
const keys = ["mappers", "contextType", "scalars"];

/**
 * Reads the text of a codegen.json; none means the defaults.
 * @throws Error that says what to mend.
 */
export function readCodegenConfig(text: string | undefined): CodegenConfig {
  if (text === undefined) return {};
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) throw new Error("codegen.json holds one object.");
  const unknownKey = Object.keys(config).find((key) => !keys.includes(key));
  if (unknownKey) throw new Error(`codegen.json knows ${keys.join(", ")}, not ${unknownKey}.`);
  const { mappers = {}, contextType, scalars = {} } = config;
  const references = [
    ...Object.values(readTexts("mappers", mappers)),
    ...(contextType === undefined ? [] : [contextType]),
  ];
  const wrong = references.find((reference) => typeof reference !== "string" || !referencePattern.test(reference));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not like "../model.ts#User".`);
  return {
    mappers: readTexts("mappers", mappers),
    scalars: readTexts("scalars", scalars),
    ...(typeof contextType === "string" && { contextType }),
  };
}

function readTexts(name: string, value: unknown): Readonly<Record<string, string>> {
  const texts = isRecord(value) ? Object.entries(value) : undefined;
  if (!texts?.every(([, text]) => typeof text === "string")) throw new Error(`${name} is an object of texts.`);
  return Object.fromEntries(texts) as Record<string, string>;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
