import type { Json } from "@tributary/kit/openapi/schema-book";
import type { Change, ChangePlace } from "./changes.ts";
import { compareSchemas, type SchemaChange, type SchemaComparison } from "./openapi-schema-changes.ts";

/** The documents of one state, by version. */
export type Documents = ReadonlyMap<number, Json>;

/**
 * What a client of a version can no longer do, or is answered otherwise, by the documents. `placesOf` says where an operation is
 * declared.
 */
export function findDocumentChanges(
  base: Documents,
  now: Documents,
  placesOf: (operationId: string) => readonly ChangePlace[],
): Change[] {
  return [...base].flatMap(([version, before]) => {
    const after = now.get(version);
    if (after === undefined) return [toChange(`v${version}`, breaking("has no document any more"), [])];
    return compareDocuments(before, after).map(({ operationId, ...change }) =>
      toChange(`${operationId} in v${version}`, change, placesOf(operationId)),
    );
  });
}

function toChange(what: string, { level, message }: SchemaChange, places: readonly ChangePlace[]): Change {
  const advice = "keep what the version promises; say it differently in the next one.";
  const subject = `${what}: ${message}`;
  return { level, code: "DOCUMENT_CHANGED", subject, message: `${subject}.`, advice, places };
}

function compareDocuments(before: Json, after: Json): (SchemaChange & { readonly operationId: string })[] {
  const standing = new Map(operationsOf(after));
  return operationsOf(before).flatMap(([key, operation]) => {
    const successor = standing.get(key);
    const changes = successor ? compareOperations(operation, successor) : [breaking("was removed")];
    return changes.map((change) => Object.assign({ operationId: operation.id }, change));
  });
}

/** An operation with its references followed, for as far as they are not schemas. */
interface Operation {
  readonly id: string;
  /** For callers without a token. */
  readonly isOpen: boolean;
  /** One of them will do; with none, any token will. */
  readonly scopes: readonly string[];
  /** By place and name, such as `query limit`. */
  readonly parameters: ReadonlyMap<string, Json>;
  readonly body: Json | undefined;
  readonly responses: ReadonlyMap<string, Json>;
  readonly schemas: Json;
}

/** By method and path, without the names of parameters, which are no part of the contract. */
function operationsOf(document: Json): (readonly [string, Operation])[] {
  return entriesOf(document["paths"]).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? "");
      return [`${method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`, readOperation(document, operation, names)] as const;
    }),
  );
}

function readOperation(document: Json, operation: Json, pathNames: readonly string[]): Operation {
  const components = (document["components"] ?? {}) as Json;
  const parameters = ((operation["parameters"] ?? []) as readonly Json[]).map((one) => follow(one, components));
  const nameOf = ({ in: where, name }: Json) =>
    `${String(where)} ${where === "path" ? pathNames.indexOf(String(name)) + 1 : String(name)}`;
  return {
    id: String(operation["operationId"]),
    isOpen: ((operation["security"] ?? []) as readonly Json[]).some((way) => Object.keys(way).length === 0),
    scopes: (operation["x-scopes"] ?? []) as readonly string[],
    parameters: new Map(parameters.map((one) => [nameOf(one), one])),
    body: operation["requestBody"] as Json | undefined,
    responses: new Map(entriesOf(operation["responses"]).map(([status, one]) => [status, follow(one, components)])),
    schemas: (components["schemas"] ?? {}) as Json,
  };
}

function follow(part: Json, components: Json): Json {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  const [kind = "", name = ""] = $ref.replace("#/components/", "").split("/");
  return (components[kind] as Readonly<Record<string, Json>>)[name] ?? {};
}

function compareOperations(before: Operation, after: Operation): SchemaChange[] {
  const schemas = { schemasBefore: before.schemas, schemasAfter: after.schemas };
  return [
    ...compareSecurity(before, after),
    ...compareParameters(before, after, { ...schemas, direction: "input" }),
    ...compareBodies(before.body, after.body, { ...schemas, direction: "input" }),
    ...compareResponses(before, after, { ...schemas, direction: "output" }),
  ];
}

/** Whoever was let in has to be let in: without a token, and with each scope that sufficed. */
function compareSecurity(before: Operation, after: Operation): SchemaChange[] {
  const lost = before.scopes.filter((scope) => after.scopes.length > 0 && !after.scopes.includes(scope));
  return [
    ...(before.isOpen && !after.isOpen ? [breaking("a caller without a token is not let in any more")] : []),
    ...(before.scopes.length === 0 && after.scopes.length > 0 ? [breaking("a token needs a scope now")] : []),
    ...lost.map((scope) => breaking(`the scope ${scope} does not suffice any more`)),
  ];
}

function compareParameters(before: Operation, after: Operation, comparison: SchemaComparison): SchemaChange[] {
  const added = [...after.parameters].filter(([name]) => !before.parameters.has(name));
  return [
    ...added.filter(([, one]) => one["required"] === true).map(([name]) => breaking(`the ${name} is needed now`)),
    ...[...before.parameters].flatMap(([name, one]) => {
      const successor = after.parameters.get(name);
      // Unknown headers are ignored; an unknown query parameter is 400.
      if (successor === undefined) return name.startsWith("header ") ? [] : [breaking(`the ${name} was removed`)];
      const isNeeded = successor["required"] === true && one["required"] !== true;
      return [
        ...(isNeeded ? [breaking(`the ${name} is needed now`)] : []),
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
  if (before === undefined) return after?.["required"] === true ? [breaking("it needs a body now")] : [];
  if (after === undefined) return [breaking("it takes no body any more")];
  const isNeeded = after["required"] === true && before["required"] !== true;
  return [
    ...(isNeeded ? [breaking("it needs a body now")] : []),
    ...compareContent(before, after, comparison, "the body"),
  ];
}

function compareResponses(before: Operation, after: Operation, comparison: SchemaComparison): SchemaChange[] {
  return [...before.responses].flatMap(([status, one]) => {
    const successor = after.responses.get(status);
    if (successor === undefined) return [breaking(`${status} was removed`)];
    const headers = (response: Json) => Object.keys(response["headers"] ?? {});
    const lost = headers(one).filter((name) => !headers(successor).includes(name));
    return [
      ...lost.map((name) => breaking(`${status} has no ${name} any more`)),
      ...compareContent(one, successor, comparison, `the body of ${status}`),
    ];
  });
}

function compareContent(before: Json, after: Json, comparison: SchemaComparison, at: string): SchemaChange[] {
  const standing = new Map(entriesOf(after["content"]));
  return entriesOf(before["content"]).flatMap(([type, media]) => {
    const successor = standing.get(type);
    if (successor === undefined) return [breaking(`${at} is ${type} no more`)];
    return compareSchemas(schemaOf(media), schemaOf(successor), comparison, at);
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
