// Finds breaking changes of the REST contract, operation by operation: security, parameters, bodies, responses and their headers. The rules for
// the JSON schemas in them are in openapi-schema-changes.ts.
import type { Json } from "@tributary/kit/openapi/schema-book";
import type { Change, ChangePlace } from "./changes.ts";
import { compareSchemas, type SchemaChange, type SchemaComparison } from "./openapi-schema-changes.ts";

/** The OpenAPI document of each API version. */
export type DocumentsByVersion = ReadonlyMap<number, Json>;

/**
 * Finds changes of OpenAPI documents that break clients of a version, or may surprise them. New versions and new operations are never reported.
 * @param placesOf returns the lines that declare an operation
 */
export function findDocumentChanges(
  base: DocumentsByVersion,
  now: DocumentsByVersion,
  placesOf: (operationId: string) => readonly ChangePlace[],
): Change[] {
  return [...base].flatMap(([version, before]) => {
    const after = now.get(version);
    if (after === undefined) return [toDocumentChange(`v${version}`, breaking("no longer has a document"), [])];
    return compareDocuments(before, after).map(({ operationId, ...change }) =>
      toDocumentChange(`${operationId} in v${version}`, change, placesOf(operationId)),
    );
  });
}

function toDocumentChange(operation: string, { level, message }: SchemaChange, places: readonly ChangePlace[]): Change {
  const advice = "keep the contract of this version, and make the change in the next one.";
  const subject = `${operation}: ${message}`;
  return { level, code: "DOCUMENT_CHANGED", subject, message: `${subject}.`, advice, places };
}

function compareDocuments(before: Json, after: Json): (SchemaChange & { readonly operationId: string })[] {
  const current = new Map(operationsOf(after));
  return operationsOf(before).flatMap(([key, operation]) => {
    const successor = current.get(key);
    const changes = successor ? compareOperations(operation, successor) : [breaking("was removed")];
    return changes.map((change) => Object.assign({ operationId: operation.id }, change));
  });
}

/** An operation with all references resolved, except those to schemas: `schemas` has these by name. */
interface ComparedOperation {
  readonly id: string;
  readonly isPublic: boolean;
  /** A token needs one of these scopes. If empty, any valid token suffices. */
  readonly scopes: readonly string[];
  /** By location and name, such as `query limit`. */
  readonly parameters: ReadonlyMap<string, Json>;
  readonly body: Json | undefined;
  readonly responses: ReadonlyMap<string, Json>;
  readonly schemas: Json;
}

/** Operations by method and path. The names of path parameters are left out: they are not part of the contract. */
function operationsOf(document: Json): (readonly [string, ComparedOperation])[] {
  return entriesOf(document["paths"]).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? "");
      return [`${method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`, readOperation(document, operation, names)] as const;
    }),
  );
}

function readOperation(document: Json, operation: Json, pathNames: readonly string[]): ComparedOperation {
  const components = (document["components"] ?? {}) as Json;
  const parameters = ((operation["parameters"] ?? []) as readonly Json[]).map((one) =>
    resolveReference(one, components),
  );
  // A path parameter is identified by its position, since its name is not part of a request.
  const nameOf = ({ in: where, name }: Json) =>
    `${String(where)} ${where === "path" ? pathNames.indexOf(String(name)) + 1 : String(name)}`;
  return {
    id: String(operation["operationId"]),
    isPublic: ((operation["security"] ?? []) as readonly Json[]).some(
      (requirement) => Object.keys(requirement).length === 0,
    ),
    scopes: (operation["x-scopes"] ?? []) as readonly string[],
    parameters: new Map(parameters.map((one) => [nameOf(one), one])),
    body: operation["requestBody"] as Json | undefined,
    responses: new Map(
      entriesOf(operation["responses"]).map(([status, one]) => [status, resolveReference(one, components)]),
    ),
    schemas: (components["schemas"] ?? {}) as Json,
  };
}

function resolveReference(part: Json, components: Json): Json {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  const [kind = "", name = ""] = $ref.replace("#/components/", "").split("/");
  return (components[kind] as Readonly<Record<string, Json>>)[name] ?? {};
}

function compareOperations(before: ComparedOperation, after: ComparedOperation): SchemaChange[] {
  const schemas = { schemasBefore: before.schemas, schemasAfter: after.schemas };
  return [
    ...compareSecurity(before, after),
    ...compareParameters(before, after, { ...schemas, direction: "input" }),
    ...compareBodies(before.body, after.body, { ...schemas, direction: "input" }),
    ...compareResponses(before, after, { ...schemas, direction: "output" }),
  ];
}

/** Every caller that was authorized must stay authorized: without a token, and with each scope that sufficed. */
function compareSecurity(before: ComparedOperation, after: ComparedOperation): SchemaChange[] {
  // Without scopes, every valid token suffices: none is removed.
  const removedScopes = before.scopes.filter((scope) => after.scopes.length > 0 && !after.scopes.includes(scope));
  return [
    ...(before.isPublic && !after.isPublic ? [breaking("no longer accepts callers without a token")] : []),
    ...(before.scopes.length === 0 && after.scopes.length > 0 ? [breaking("now requires a scope")] : []),
    ...removedScopes.map((scope) => breaking(`no longer accepts the scope ${scope}`)),
  ];
}

function compareParameters(
  before: ComparedOperation,
  after: ComparedOperation,
  comparison: SchemaComparison,
): SchemaChange[] {
  const added = [...after.parameters].filter(([name]) => !before.parameters.has(name));
  return [
    ...added.filter(([, one]) => one["required"] === true).map(([name]) => breaking(`the ${name} is now required`)),
    ...[...before.parameters].flatMap(([name, one]) => {
      const successor = after.parameters.get(name);
      // The server ignores an unknown header, but rejects an unknown query parameter with 400.
      if (successor === undefined) return name.startsWith("header ") ? [] : [breaking(`the ${name} was removed`)];
      const becomesRequired = successor["required"] === true && one["required"] !== true;
      return [
        ...(becomesRequired ? [breaking(`the ${name} is now required`)] : []),
        ...compareSchemas(schemaOf(one), schemaOf(successor), comparison, `the ${name}`),
      ];
    }),
  ];
}

function compareBodies(
  before: Json | undefined,
  after: Json | undefined,
  comparison: SchemaComparison,
): SchemaChange[] {
  if (before === undefined) return after?.["required"] === true ? [breaking("now requires a body")] : [];
  if (after === undefined) return [breaking("no longer accepts a body")];
  const becomesRequired = after["required"] === true && before["required"] !== true;
  return [
    ...(becomesRequired ? [breaking("now requires a body")] : []),
    ...compareContent(before, after, comparison, "the body"),
  ];
}

function compareResponses(
  before: ComparedOperation,
  after: ComparedOperation,
  comparison: SchemaComparison,
): SchemaChange[] {
  return [...before.responses].flatMap(([status, one]) => {
    const successor = after.responses.get(status);
    if (successor === undefined) return [breaking(`the response ${status} was removed`)];
    const headers = (response: Json) => Object.keys(response["headers"] ?? {});
    const removedHeaders = headers(one).filter((name) => !headers(successor).includes(name));
    return [
      ...removedHeaders.map((name) => breaking(`the response ${status} no longer has the header ${name}`)),
      ...compareContent(one, successor, comparison, `the body of ${status}`),
    ];
  });
}

function compareContent(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const current = new Map(entriesOf(after["content"]));
  return entriesOf(before["content"]).flatMap(([type, media]) => {
    const successor = current.get(type);
    if (successor === undefined) return [breaking(`${location} is no longer ${type}`)];
    return compareSchemas(schemaOf(media), schemaOf(successor), comparison, location);
  });
}

function schemaOf(holder: Json): Json {
  return (holder["schema"] ?? {}) as Json;
}

function entriesOf(value: unknown): (readonly [string, Json])[] {
  return Object.entries((value ?? {}) as Readonly<Record<string, Json>>);
}

function breaking(message: string): SchemaChange {
  return { level: "breaking", message };
}
