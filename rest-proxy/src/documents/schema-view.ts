import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { ConfigError } from "@tributary/kit/process/env";
import { schemaPath } from "./addresses.ts";
import type { VersionDocument } from "./deprecation.ts";
import { nameOf, type Schema } from "./open-api/open-api.ts";

/** Renders a JSON schema in place: its type, and a list of its properties with those of the schemas that it refers to. */
export function viewSchema(schema: Schema, reference: VersionDocument): Html {
  return html`<div class="schema">
    <p>${typeOf(schema, reference)}${limitsOf(schema)}</p>
    ${fieldsOf(schema, { reference, open: [], shown: { fields: 0 } })}
  </div>`;
}

interface SchemaView {
  readonly reference: VersionDocument;
  /** Names of the schemas that contain the rendered one. They are not expanded again, since a schema may contain itself. */
  readonly open: readonly string[];
  readonly shown: { fields: number };
}

/** After so many fields no further schema is expanded: schemas that all refer to each other would fill gigabytes. */
const fieldsMax = 500;

/** Renders the properties of a schema; if the schema is a list, those of its items. Undefined for a schema without properties. */
function fieldsOf(schema: Schema, view: SchemaView): Html | undefined {
  const { $ref, properties, required = [], items } = schema;
  if ($ref !== undefined) return fieldsOfReference(nameOf($ref), view);
  if (properties) {
    const entries = Object.entries(properties).map(([name, part]) =>
      viewField({ name, schema: part, required: required.includes(name), description: descriptionOf(part) }, view),
    );
    return entries.length === 0
      ? undefined
      : html`<ul class="fields">
          ${entries}
        </ul>`;
  }
  if (items) return fieldsOf(items, view);
  if (schema.allOf) return html`${schema.allOf.map((part) => fieldsOf(part, view))}`;
  const nonNull = nonNullOf(schema);
  return nonNull === undefined ? undefined : fieldsOf(nonNull, view);
}

function fieldsOfReference(name: string, { reference, open, shown }: SchemaView): Html | undefined {
  const schema = reference.document.components.schemas[name];
  if (schema === undefined)
    throw new ConfigError([`OPENAPI_FOLDER: the schema ${name} of v${reference.version}.json does not exist`]);
  if (open.includes(name) || shown.fields > fieldsMax) return undefined;
  return fieldsOf(schema, { reference, open: [...open, name], shown });
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly description?: string | undefined;
  /** The part of the request that contains a parameter; undefined for a property. */
  readonly place?: string;
}

/** Renders the parameters of an operation in the same form as the properties of a schema. */
export function viewFields(fields: readonly Field[], reference: VersionDocument): Html {
  return html`<ul class="fields">
    ${fields.map((field) => viewField(field, { reference, open: [], shown: { fields: 0 } }))}
  </ul>`;
}

function viewField({ name, schema, required, description, place }: Field, view: SchemaView): Html {
  view.shown.fields++;
  return html`<li>
    <p>
      <code class="name">${name}</code>
      ${required ? html`<span class="required">required</span>` : undefined}
      <span class="type"
        >${place}${place === undefined ? "" : ", "}${typeOf(schema, view.reference)}${limitsOf(schema)}</span
      >
    </p>
    ${description === undefined ? undefined : markdown(description)}${fieldsOf(schema, view)}
  </li>`;
}

/** In the OpenAPI documents, the description of a nullable property is in the alternative that is not null. */
function descriptionOf(schema: Schema): string | undefined {
  return schema.description ?? nonNullOf(schema)?.description;
}

function typeOf(schema: Schema, reference: VersionDocument): Html {
  const { $ref, oneOf, anyOf = oneOf, allOf, type, items, enum: values } = schema;
  if ($ref !== undefined) return html`<a href="${schemaPath(reference, nameOf($ref))}">${nameOf($ref)}</a>`;
  if (anyOf) return joinByOr(anyOf.map((part) => typeOf(part, reference)));
  if (allOf) return html`${allOf.map((part, index) => [index === 0 ? "" : " and ", typeOf(part, reference)])}`;
  if (values) return joinByOr(values.map((value) => html`<code>${String(value)}</code>`));
  if (items) return html`list of ${typeOf(items, reference)}`;
  if (type === undefined) return html`anything`;
  return html`${typeof type === "string" ? type : type.join(" or ")}`;
}

export function joinByOr(alternatives: readonly Html[]): Html {
  return html`${alternatives.map((alternative, index) => [index === 0 ? "" : " or ", alternative])}`;
}

/** The limits of the values, each after a comma. If a nullable schema has none, those of its alternative that is not null. */
function limitsOf(schema: Schema): Html | undefined {
  const { format, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const limits: (string | Html)[] = [];
  if (format === undefined) limits.push(...describePattern(schema));
  else limits.push(format);
  limits.push(...describeSize(minLength, maxLength, "character"));
  if (minimum !== undefined && maximum !== undefined)
    limits.push(`from ${formatNumber(minimum)} to ${formatNumber(maximum)}`);
  else if (minimum !== undefined) limits.push(`at least ${formatNumber(minimum)}`);
  else if (maximum !== undefined) limits.push(`at most ${formatNumber(maximum)}`);
  limits.push(...describeSize(minItems, maxItems, "item"));
  if (schema.default !== undefined) limits.push(`${JSON.stringify(schema.default)} if it is omitted`);
  if (limits.length > 0) return html`<small>${limits.map((limit) => [", ", limit])}</small>`;
  const nonNull = nonNullOf(schema);
  return nonNull === undefined ? undefined : limitsOf(nonNull);
}

/**
 * Patterns that exclude control characters are long, and clients hardly ever send such a character: they are only in the OpenAPI document.
 */
function describePattern({ pattern }: Schema): readonly Html[] {
  if (pattern === undefined || pattern.includes(String.raw`\u0000`)) return [];
  return [html`matches <code>${pattern}</code>`];
}

function describeSize(min: number | undefined, max: number | undefined, unit: string): readonly string[] {
  const formatSize = (size: number) => `${formatNumber(size)} ${unit}${size === 1 ? "" : "s"}`;
  if (min !== undefined && min === max) return [`exactly ${formatSize(min)}`];
  const limits: string[] = [];
  if (min !== undefined) limits.push(`at least ${formatSize(min)}`);
  if (max !== undefined) limits.push(`at most ${formatSize(max)}`);
  return limits;
}

/** The alternative of a nullable schema that is not null. */
function nonNullOf({ oneOf = [], anyOf = oneOf }: Schema): Schema | undefined {
  return anyOf.find(({ type }) => type !== "null");
}

function formatNumber(value: number): string {
  return value.toLocaleString("en");
}
