import type { VersionDocument } from "./deprecation.ts";
import {
  nameOf,
  type NamedSchemas,
  type OpenApi,
  type Operation,
  operationsOf,
  parametersOf,
  responsesOf,
  type Schema,
  sectionsOf,
} from "./open-api.ts";
import { explainedProblems } from "./problem-pages.ts";

/** One page, section, operation or schema that the search finds. */
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

/** Words that readers search for, and that the sections with these titles do not contain. */
const sectionKeywords: ReadonlyMap<string, string> = new Map([
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

function createVersionEntries({ version, document }: VersionDocument): readonly SearchEntry[] {
  const url = `/docs/v${version}`;
  const { schemas } = document.components;
  return [
    ...operationsOf(document).map(({ method, path: pathInVersion, operation }) => {
      const { operationId, summary, description, "x-scopes": scopes = [] } = operation;
      const path = `/v${version}${pathInVersion}`;
      const label = `${method.toUpperCase()} ${path}`;
      const names = [...readNames(document, operation)].join(" ");
      const texts = [`${summary} ${operationId} ${label}`, `${description} ${scopes.join(" ")}`, names];
      return { url: `${url}#${operationId}`, title: summary, label, version, path, texts };
    }),
    ...sectionsOf(document).flatMap(({ id, title, text }) =>
      title === undefined
        ? []
        : {
            url: `${url}#${id}`,
            title,
            label: "Overview",
            version,
            texts: [`${title} ${sectionKeywords.get(title) ?? ""}`, text],
          },
    ),
    ...Object.entries(schemas).map(([name, schema]) => {
      const names = addPropertyNames(new Set(), schema, schemas);
      return {
        url: `${url}#schema-${name}`,
        title: name,
        label: "Schema",
        version,
        texts: [name, "", [...names].join(" ")],
      };
    }),
  ];
}

/** The names of an operation's parameters and response headers, and of the properties of its bodies except in errors. */
function readNames(document: OpenApi, operation: Operation): ReadonlySet<string> {
  const responses = responsesOf(document, operation);
  const names = new Set([
    ...parametersOf(document, operation).map(({ name }) => name),
    ...responses.flatMap(([, { headers = {} }]) => Object.keys(headers)),
  ]);
  const successes = responses.filter(([status]) => Number(status) < 400);
  for (const content of [operation.requestBody?.content ?? {}, ...successes.map(([, { content = {} }]) => content)]) {
    for (const { schema } of Object.values(content)) addPropertyNames(names, schema, document.components.schemas);
  }
  return names;
}

/** @param open the references that led to this schema: they are not followed again, since a schema may contain itself. */
function addPropertyNames(
  names: Set<string>,
  { $ref, properties = {}, items, anyOf = [] }: Schema,
  schemas: NamedSchemas,
  open: readonly string[] = [],
): ReadonlySet<string> {
  for (const [name, part] of Object.entries(properties)) {
    names.add(name);
    addPropertyNames(names, part, schemas, open);
  }
  for (const part of [...(items ? [items] : []), ...anyOf]) addPropertyNames(names, part, schemas, open);
  const target = $ref === undefined || open.includes($ref) ? undefined : schemas[nameOf($ref)];
  if ($ref !== undefined && target !== undefined) addPropertyNames(names, target, schemas, [...open, $ref]);
  return names;
}
