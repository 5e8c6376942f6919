import { guidePath, operationUrl, requestPath, schemaPath } from "./addresses.ts";
import type { VersionDocument } from "./deprecation.ts";
import {
  isError,
  nameOf,
  type NamedSchemas,
  type OpenApi,
  type Operation,
  operationsOf,
  type PathOperation,
  type Schema,
  sectionsOf,
} from "./open-api/open-api.ts";
import { explainedProblems } from "./problem-pages.ts";

/** One page, guide, operation or schema that the search finds. */
interface SearchEntry {
  readonly url: string;
  readonly title: string;
  /** Shown beside the title. */
  readonly label: string;
  /** Undefined: the search finds it on pages of every version. */
  readonly version?: number;
  /** The path of an operation, with its version and with parameters in braces. */
  readonly path?: string;
  /** The searched texts, the most important first; "" if there is no text of an importance. search.js divides them into words. */
  readonly texts: readonly string[];
}

/** Words that readers search for, and that the guides with these titles do not contain. */
const guideKeywords: ReadonlyMap<string, string> = new Map([
  ["Versions", "versioning"],
  ["Reading", "caching conditional requests"],
  ["Lists", "pagination"],
  ["Writing", "updates"],
  ["Problems", "errors"],
]);

/** The index at `/docs/search.json`. search.js loads it when a reader focuses the search. */
export function createSearchIndex(versions: readonly VersionDocument[]): string {
  const entries: readonly SearchEntry[] = [
    ...versions.flatMap(createVersionEntries),
    createPageEntry("/docs", "Overview", "Reference API catalog"),
    createPageEntry("/docs/tokens", "Tokens", "JWT JSON Web Token bearer authorization scopes issuer"),
    createPageEntry("/problems", "Problems", "errors statuses application/problem+json RFC 9457"),
    ...versions.map(({ version }) =>
      createPageEntry(`/docs/v${version}`, `Version ${version}`, `v${version} operations schemas`),
    ),
    ...explainedProblems.map(({ type, title, status, means, remedy }) => ({
      url: type,
      title,
      label: `Problem ${status}`,
      texts: [`${title} ${status}`, `${means} ${remedy}`],
    })),
  ];
  return JSON.stringify({ entries });
}

function createPageEntry(url: string, title: string, keywords: string): SearchEntry {
  return { url, title, label: "Page", texts: [title, keywords] };
}

function createVersionEntries(reference: VersionDocument): readonly SearchEntry[] {
  const operationEntries = operationsOf(reference.document).map((entry) => createOperationEntry(reference, entry));
  return [...operationEntries, ...createGuideEntries(reference), ...createSchemaEntries(reference)];
}

function createOperationEntry(reference: VersionDocument, entry: PathOperation): SearchEntry {
  const { version, document } = reference;
  const { operationId, summary, description, "x-scopes": scopes = [] } = entry.operation;
  const path = requestPath(document, entry.path);
  const label = `${entry.method.toUpperCase()} ${path}`;
  const names = [...readNames(document, entry.operation)].join(" ");
  const texts = [`${summary} ${operationId} ${label}`, `${description} ${scopes.join(" ")}`, names];
  return { url: operationUrl(reference, entry.operation), title: summary, label, version, path, texts };
}

function createGuideEntries(reference: VersionDocument): readonly SearchEntry[] {
  const { version, document } = reference;
  return sectionsOf(document).sections.map((section) => {
    const { title, text } = section;
    const texts = [`${title} ${guideKeywords.get(title) ?? ""}`, text];
    return { url: guidePath(reference, section), title, label: "Guide", version, texts };
  });
}

function createSchemaEntries(reference: VersionDocument): readonly SearchEntry[] {
  const { version, document } = reference;
  const { schemas } = document.components;
  return Object.entries(schemas).map(([name, schema]) => {
    const propertyNames = addPropertyNames(new Set(), schema, schemas);
    const texts = [name, "", [...propertyNames].join(" ")];
    return { url: schemaPath(reference, name), title: name, label: "Schema", version, texts };
  });
}

/** The names of an operation's parameters and response headers, and of the properties of its bodies except in errors. */
function readNames(document: OpenApi, operation: Operation): ReadonlySet<string> {
  const responses = Object.entries(operation.responses);
  const parameterNames = operation.parameters.map(({ name }) => name);
  const headerNames = responses.flatMap(([, { headers }]) => Object.keys(headers));
  const names = new Set([...parameterNames, ...headerNames]);
  const successes = responses.filter((response) => !isError(response));
  const requestContent = operation.requestBody?.content ?? {};
  const responseContents = successes.map(([, { content = {} }]) => content);
  for (const content of [requestContent, ...responseContents]) {
    for (const { schema } of Object.values(content)) addPropertyNames(names, schema, document.components.schemas);
  }
  return names;
}

/**
 * Adds the names of all properties of a schema, also of those within it, and returns `names`.
 * @param followed the references so far: each is followed once.
 */
function addPropertyNames(
  names: Set<string>,
  { $ref, properties = {}, items, anyOf = [] }: Schema,
  schemas: NamedSchemas,
  followed: Set<string> = new Set(),
): ReadonlySet<string> {
  for (const [name, part] of Object.entries(properties)) {
    names.add(name);
    addPropertyNames(names, part, schemas, followed);
  }
  if (items) addPropertyNames(names, items, schemas, followed);
  for (const alternative of anyOf) addPropertyNames(names, alternative, schemas, followed);
  if ($ref === undefined || followed.has($ref)) return names;
  followed.add($ref);
  const referenced = schemas[nameOf($ref)];
  if (referenced !== undefined) addPropertyNames(names, referenced, schemas, followed);
  return names;
}
