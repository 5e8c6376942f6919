// What of a document violates the published JSON schema of OpenAPI 3.1, and of its schemas that of JSON Schema 2020-12.
import openApiSchema from "@seriousme/openapi-schema-validator/schemas/v3.1/schema.json" with { type: "json" };
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { isJsonObject, type Json } from "@tributary/kit/json/json";

export interface FormatProblem {
  readonly message: string;
  readonly path: readonly string[];
}

interface Validators {
  readonly document: ValidateFunction;
  readonly schema: ValidateFunction;
}

/** Compiled once, as that takes 0.3 s. */
let validators: Validators | undefined;

/** @param schemas the places of schemas, which the schema of OpenAPI leaves to that of JSON Schema. */
export function findFormatProblems(
  document: Json,
  schemas: readonly { readonly value: unknown; readonly path: readonly string[] }[],
): readonly FormatProblem[] {
  validators ??= compile();
  const { document: validateDocument, schema: validateSchema } = validators;
  const found = [
    ...listErrors(validateDocument, document, []),
    ...schemas
      .filter(({ value }) => isJsonObject(value))
      .flatMap(({ value, path }) => listErrors(validateSchema, value, path)),
  ];
  // A schema within a schema is found twice, and each alternative of a rule has an error.
  return [...new Map(found.toReversed().map((problem) => [problem.path.join("/"), problem])).values()].toReversed();
}

function compile(): Validators {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false, verbose: true, logger: false });
  const schema = ajv.getSchema("https://json-schema.org/draft/2020-12/schema");
  if (schema === undefined) throw new Error("Ajv has no schema of JSON Schema 2020-12.");
  return { document: ajv.compile(openApiSchema), schema };
}

/** Keywords whose errors only repeat those of their parts. */
const compositeKeywords = new Set(["if", "allOf", "anyOf", "oneOf"]);

function listErrors(validate: ValidateFunction, value: unknown, place: readonly string[]): readonly FormatProblem[] {
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  const ofParts = errors.filter(({ keyword }) => !compositeKeywords.has(keyword));
  return (ofParts.length > 0 ? ofParts : errors).map((error) => toProblem(error, place));
}

function toProblem({ instancePath, ...error }: ErrorObject, place: readonly string[]): FormatProblem {
  const keys = instancePath.split("/").slice(1);
  const own = [...place, ...keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))];
  const { unevaluatedProperty, additionalProperty } = error.params;
  const unknown: unknown = unevaluatedProperty ?? additionalProperty;
  const path = typeof unknown === "string" ? [...own, unknown] : own;
  const name = own.at(-1) ?? "The document";
  return {
    path,
    message: typeof unknown === "string" ? `${unknown} is unknown in ${name}.` : `${name} ${describe(error)}`,
  };
}

const typeNames: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a text",
};

function describe({ keyword, params, message = "is invalid", data }: Omit<ErrorObject, "instancePath">): string {
  const { type, missingProperty, allowedValues } = params as {
    readonly type?: string | readonly string[];
    readonly missingProperty?: string;
    readonly allowedValues?: readonly unknown[];
  };
  if (keyword === "required") return `lacks ${missingProperty}.`;
  if (keyword === "enum") return `has to be one of ${allowedValues?.join(", ")}.`;
  if (keyword !== "type") return `${message}.`;
  const expected = [type ?? []].flat().map((name) => typeNames[name] ?? name);
  // YAML reads `description: 404` as a number, and `description:` as null.
  const hint = type === "string" && !isJsonObject(data) && !Array.isArray(data) ? ": write it in quotes" : "";
  return `has to be ${expected.join(" or ")}${hint}.`;
}
