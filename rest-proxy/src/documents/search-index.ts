import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { problemTypeOf } from "@tributary/kit/http/problem";
import { problemExplanations } from "@tributary/kit/openapi/problems";
import type { VersionDocument } from "./deprecation.ts";
import {
  nameOf,
  type NamedSchemas,
  operationsOf,
  type PathOperation,
  resolveReference,
  type Schema,
} from "./open-api.ts";

/** One page, operation or schema that the search finds. */
interface SearchEntry {
  readonly url: string;
  readonly title: string;
  /** Shown beside the title. */
  readonly label: string;
  /** Undefined: the search finds it on pages of every version. */
  readonly version?: number;
  /** The searched texts, the most important first. search.js divides them into words. */
  readonly texts: readonly string[];
}

/** The index at `/docs/search.json`. search.js loads it when a reader focuses the search. */
export function createSearchIndex(versions: readonly VersionDocument[]): string {
  const problems = (Object.keys(statusOf) as readonly ErrorCode[]).map((code): SearchEntry => {
    const { means, remedy } = problemExplanations[code];
    const title = code.toLowerCase().replaceAll("_", " ");
    return { url: problemTypeOf(code), title, label: `Problem ${statusOf[code]}`, texts: [title, means, remedy] };
  });
  const tokens = {
    url: "/docs/tokens",
    title: "Tokens",
    label: "Page",
    texts: ["Tokens", "bearer token scopes issuer"],
  };
  const entries: readonly SearchEntry[] = [...versions.flatMap(createEntries), tokens, ...problems];
  return JSON.stringify({ entries });
}

function createEntries({ version, document }: VersionDocument): readonly SearchEntry[] {
  const { schemas } = document.components;
  return [
    ...operationsOf(document).map((entry): SearchEntry => {
      const { method, path, operation } = entry;
      const { operationId, summary, description } = operation;
      return {
        url: `/docs/v${version}#${operationId}`,
        title: summary,
        label: `${method.toUpperCase()} /v${version}${path}`,
        version,
        texts: [
          `${summary} ${operationId} ${method} ${path}`,
          `${description} ${(operation["x-scopes"] ?? []).join(" ")}`,
          [...readFieldNames(entry, document)].join(" "),
        ],
      };
    }),
    ...Object.entries(schemas).map(([name, schema]): SearchEntry => {
      const names = addPropertyNames(new Set(), schema, schemas);
      return {
        url: `/docs/v${version}#schema-${name}`,
        title: name,
        label: "Schema",
        version,
        texts: [name, "", [...names].join(" ")],
      };
    }),
  ];
}

/** The names of an operation's parameters, and of the properties of its bodies except in errors. */
function readFieldNames(
  { operation }: PathOperation,
  { components }: VersionDocument["document"],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const parameter of operation.parameters ?? []) {
    names.add(resolveReference(parameter, components.parameters).name);
  }
  const bodies = Object.entries(operation.responses).flatMap(([status, response]) =>
    Number(status) < 400 ? [resolveReference(response, components.responses).content ?? {}] : [],
  );
  for (const content of [operation.requestBody?.content ?? {}, ...bodies]) {
    for (const { schema } of Object.values(content)) addPropertyNames(names, schema, components.schemas);
  }
  return names;
}

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
