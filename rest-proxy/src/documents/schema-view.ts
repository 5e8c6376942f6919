import { type Html, html, markdown } from "./html.ts";
import { nameOf, type Schema } from "./open-api.ts";

/** Renders a JSON schema as a list of its properties; a reference is a link to the schema's section of the page. */
export function viewSchema(schema: Schema): Html {
  const inside = insideOf(schema);
  return html`<div class="schema">${typeOf(schema)} ${limitsOf(schema)}${inside}</div>`;
}

function insideOf(schema: Schema): Html | undefined {
  const { properties, required = [], items, anyOf = [] } = schema;
  if (properties) {
    const entries = Object.entries(properties).map(
      ([name, part]) =>
        html`<li>
          <code class="name">${name}</code>${required.includes(name) ? undefined : html` <em>optional</em>`}
          ${typeOf(part)}
          ${limitsOf(part)}${part.description === undefined ? undefined : markdown(part.description)}${insideOf(part)}
        </li>`,
    );
    return entries.length === 0
      ? undefined
      : html`<ul>
          ${entries}
        </ul>`;
  }
  if (items) return insideOf(items);
  const choice = anyOf.find(({ type }) => type !== "null");
  return choice === undefined ? undefined : insideOf(choice);
}

function typeOf(schema: Schema): Html {
  const { $ref, anyOf, type, items, enum: values } = schema;
  if ($ref !== undefined) return html`<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`;
  if (anyOf) return html`${anyOf.map((alternative, index) => [index === 0 ? "" : " or ", typeOf(alternative)])}`;
  if (values)
    return html`${values.map((value, index) => [index === 0 ? "" : " or ", html`<code>${String(value)}</code>`])}`;
  if (items) return html`list of ${typeOf(items)}`;
  return html`${[type ?? "anything"].flat().join(" or ")}`;
}

const constraints: readonly (readonly [keyof Schema, (value: unknown) => string])[] = [
  ["format", (value) => String(value)],
  ["minLength", (value) => `at least ${numberOf(value)} characters`],
  ["maxLength", (value) => `at most ${numberOf(value)} characters`],
  ["minimum", (value) => `from ${numberOf(value)}`],
  ["maximum", (value) => `to ${numberOf(value)}`],
  ["minItems", (value) => `at least ${numberOf(value)} items`],
  ["maxItems", (value) => `at most ${numberOf(value)} items`],
  ["default", (value) => `${JSON.stringify(value)} if it is omitted`],
];

function limitsOf(schema: Schema): Html | undefined {
  const limits = constraints.flatMap(([keyword, describe]) =>
    schema[keyword] === undefined ? [] : [describe(schema[keyword])],
  );
  const choice = schema.anyOf?.find(({ type }) => type !== "null");
  if (limits.length === 0) return choice === undefined ? undefined : limitsOf(choice);
  return html`<small>${limits.join(", ")}</small>`;
}

function numberOf(value: unknown): string {
  return Number(value).toLocaleString("en");
}
