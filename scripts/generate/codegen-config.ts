/** A service's codegen.json. Paths are relative to src/graphql/. */
export interface CodegenConfig {
  /** The service's TypeScript type for a GraphQL type: { "User": "../model.ts#User" }. */
  readonly mappers?: Readonly<Record<string, string>>;
  readonly contextType?: string;
  /** The TypeScript types of custom scalars, such as { "URL": "string" }. Added to { "DateTime": "Date" }. */
  readonly scalars?: Readonly<Record<string, string>>;
}

const referencePattern = /^\.{1,2}\/[\w./-]+\.ts#[A-Za-z]\w*$/;
const knownKeys = ["mappers", "contextType", "scalars"];

/** @param text undefined without a codegen.json. @throws Error that names the invalid part. */
export function readCodegenConfig(text: string | undefined): CodegenConfig {
  if (text === undefined) return {};
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) throw new Error("codegen.json must contain one object.");
  const unknownKey = Object.keys(config).find((key) => !knownKeys.includes(key));
  if (unknownKey)
    throw new Error(`codegen.json has the unknown key ${unknownKey}. Its keys are ${knownKeys.join(", ")}.`);
  const mappers = readStrings("mappers", config["mappers"]);
  for (const reference of Object.values(mappers)) requireReference(reference);
  const contextType = readContextType(config["contextType"]);
  const scalars = readStrings("scalars", config["scalars"]);
  return contextType === undefined ? { mappers, scalars } : { mappers, scalars, contextType };
}

function readContextType(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  requireReference(value);
  return value;
}

function requireReference(value: unknown): asserts value is string {
  const isReference = typeof value === "string" && referencePattern.test(value);
  if (!isReference) throw new Error(`${JSON.stringify(value)} is not a reference like "../model.ts#User".`);
}

function readStrings(name: string, value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const isValid = isRecord(value) && Object.values(value).every((text) => typeof text === "string");
  if (!isValid) throw new Error(`${name} must be an object whose values are strings.`);
  return value as Readonly<Record<string, string>>;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
