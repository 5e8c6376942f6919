// Finds breaking changes of the REST contract, operation by operation: security, parameters, bodies, responses and their headers. The rules for
// the JSON schemas in them are in openapi-schema-changes.ts.
import type { Json } from "@tributary/kit/json/json";
import type { Change, ChangePlace } from "./changes.ts";
import { breaking, compareSchemas, type SchemaChange, type SchemaComparison } from "./openapi-schema-changes.ts";

export type DocumentsByVersion = ReadonlyMap<number, Json>;

/** New versions and new operations are never reported. @param placesOf returns the lines that declare an operation. */
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
    return changes.map(({ level, message }) => ({ operationId: operation.id, level, message }));
  });
}

/** All references are resolved, except those to `schemas`. */
interface ComparedOperation {
  readonly id: string;
  readonly isPublic: boolean;
  /** A token needs one of these. If empty, any valid token suffices. */
  readonly scopes: readonly string[];
  /** By location and name, such as `query limit`. */
  readonly parameters: ReadonlyMap<string, Json>;
  readonly body: Json | undefined;
  readonly responses: ReadonlyMap<string, Json>;
  readonly schemas: Json;
}

const pathParameterPattern = /\{([^}]+)\}/g;

/** By method and path without the names of path parameters, which are not part of the contract. */
function operationsOf(document: Json): (readonly [string, ComparedOperation])[] {
  return entriesOf(document["paths"]).flatMap(([path, item]) => {
    const pathNames = [...path.matchAll(pathParameterPattern)].map(([, name]) => name ?? "");
    const pathShape = path.replaceAll(pathParameterPattern, "{}");
    return entriesOf(item).map(
      ([method, operation]) => [`${method} ${pathShape}`, readOperation(document, operation, pathNames)] as const,
    );
  });
}

function readOperation(document: Json, operation: Json, pathNames: readonly string[]): ComparedOperation {
  const components = (document["components"] ?? {}) as Json;
  const security = (operation["security"] ?? []) as readonly Json[];
  const declaredParameters = (operation["parameters"] ?? []) as readonly Json[];
  const parameters = declaredParameters.map((parameter) => resolveReference(parameter, components));
  // A path parameter is identified by its position, since its name is not part of a request.
  const keyOf = ({ in: where, name }: Json) => {
    if (where === "path") return `path ${pathNames.indexOf(String(name)) + 1}`;
    return `${String(where)} ${where === "header" ? String(name).toLowerCase() : String(name)}`;
  };
  const responses = entriesOf(operation["responses"]).map(
    ([status, response]) => [status, resolveReference(response, components)] as const,
  );
  return {
    id: String(operation["operationId"]),
    // An empty requirement means that no token is necessary.
    isPublic: security.some((requirement) => Object.keys(requirement).length === 0),
    scopes: (operation["x-scopes"] ?? []) as readonly string[],
    parameters: new Map(parameters.map((parameter) => [keyOf(parameter), parameter])),
    body: operation["requestBody"] as Json | undefined,
    responses: new Map(responses),
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
  const schemasBefore = before.schemas;
  const schemasAfter = after.schemas;
  const ofInput: SchemaComparison = { direction: "input", schemasBefore, schemasAfter };
  const ofOutput: SchemaComparison = { direction: "output", schemasBefore, schemasAfter };
  return [
    ...compareSecurity(before, after),
    ...compareParameters(before, after, ofInput),
    ...compareBodies(before.body, after.body, ofInput),
    ...compareResponses(before, after, ofOutput),
  ];
}

/** Every caller that was authorized must stay authorized: without a token, and with each scope that sufficed. */
function compareSecurity(before: ComparedOperation, after: ComparedOperation): SchemaChange[] {
  const changes: SchemaChange[] = [];
  if (before.isPublic && !after.isPublic) changes.push(breaking("no longer accepts callers without a token"));
  if (after.scopes.length === 0) return changes;
  if (before.scopes.length === 0) changes.push(breaking("now requires a scope"));
  const removedScopes = before.scopes.filter((scope) => !after.scopes.includes(scope));
  for (const scope of removedScopes) changes.push(breaking(`no longer accepts the scope ${scope}`));
  return changes;
}

function compareParameters(
  before: ComparedOperation,
  after: ComparedOperation,
  comparison: SchemaComparison,
): SchemaChange[] {
  const added = [...after.parameters].filter(([name]) => !before.parameters.has(name));
  const addedAndRequired = added.filter(([, parameter]) => isRequired(parameter));
  const additions = addedAndRequired.map(([name]) => breaking(`the ${name} is now required`));
  const otherChanges = [...before.parameters].flatMap(([name, parameter]) =>
    compareParameter(name, parameter, after.parameters.get(name), comparison),
  );
  return [...additions, ...otherChanges];
}

function compareParameter(
  name: string,
  before: Json,
  after: Json | undefined,
  comparison: SchemaComparison,
): SchemaChange[] {
  if (after === undefined) {
    // The server rejects an unknown query parameter with 400, but ignores an unknown header: a condition or an idempotency key has no effect then.
    return [{ level: name.startsWith("header ") ? "dangerous" : "breaking", message: `the ${name} was removed` }];
  }
  const changes = compareSchemas(schemaOf(before), schemaOf(after), comparison, `the ${name}`);
  const becomesRequired = isRequired(after) && !isRequired(before);
  return becomesRequired ? [breaking(`the ${name} is now required`), ...changes] : changes;
}

function compareBodies(
  before: Json | undefined,
  after: Json | undefined,
  comparison: SchemaComparison,
): SchemaChange[] {
  const becomesRequired = isRequired(after) && !isRequired(before);
  const requirement = becomesRequired ? [breaking("now requires a body")] : [];
  if (before === undefined) return requirement;
  if (after === undefined) return [breaking("no longer accepts a body")];
  return [...requirement, ...compareContent(before, after, comparison, "the body")];
}

function compareResponses(
  before: ComparedOperation,
  after: ComparedOperation,
  comparison: SchemaComparison,
): SchemaChange[] {
  return [...before.responses].flatMap(([status, response]) => {
    const successor = after.responses.get(status);
    if (successor === undefined) return [breaking(`the response ${status} was removed`)];
    const currentHeaders = new Set(headersOf(successor).map((name) => name.toLowerCase()));
    const removedHeaders = headersOf(response).filter((name) => !currentHeaders.has(name.toLowerCase()));
    return [
      ...removedHeaders.map((name) => breaking(`the response ${status} no longer has the header ${name}`)),
      ...compareContent(response, successor, comparison, `the body of ${status}`),
    ];
  });
}

function compareContent(before: Json, after: Json, comparison: SchemaComparison, location: string): SchemaChange[] {
  const currentContents = new Map(entriesOf(after["content"]));
  return entriesOf(before["content"]).flatMap(([mediaType, content]) => {
    const successor = currentContents.get(mediaType);
    if (successor === undefined) return [breaking(`${location} is no longer ${mediaType}`)];
    return compareSchemas(schemaOf(content), schemaOf(successor), comparison, location);
  });
}

function headersOf(response: Json): readonly string[] {
  return Object.keys(response["headers"] ?? {});
}

function isRequired(part: Json | undefined): boolean {
  return part?.["required"] === true;
}

function schemaOf(part: Json): Json {
  return (part["schema"] ?? {}) as Json;
}

function entriesOf(value: unknown): (readonly [string, Json])[] {
  return Object.entries((value ?? {}) as Readonly<Record<string, Json>>);
}
