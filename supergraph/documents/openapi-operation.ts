import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type {
  DocumentedLink,
  HeaderName,
  OperationExample,
  ParameterSchemas,
  OperationDocument,
} from "@tributary/kit/openapi/openapi";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { type Components, headersOfEveryResponse } from "./openapi-components.ts";
import type { Json } from "@tributary/kit/json/json";
import type { SchemaBook } from "@tributary/kit/openapi/schema-book";

export interface OperationSource {
  readonly route: RouteDeclaration;
  readonly version: number;
  readonly tag: string;
  readonly document: OperationDocument;
}

export interface DocumentContext {
  readonly book: SchemaBook;
  readonly components: Components;
}

const codesOfEveryOperation: readonly ErrorCode[] = [
  "MALFORMED_REQUEST",
  "UNKNOWN_PARAMETER",
  "UNAUTHENTICATED",
  "NOT_ACCEPTABLE",
  "REQUEST_TIMEOUT",
  "GONE",
  "TOO_MANY_REQUESTS",
  "HEADERS_TOO_LARGE",
  "INTERNAL_SERVER_ERROR",
  "BAD_GATEWAY",
  "SERVICE_UNAVAILABLE",
  "GATEWAY_TIMEOUT",
];

/** OpenAPI 3.1.1, 4.8.10. */
export function toOperation(source: OperationSource, context: DocumentContext): Json {
  const { route, tag, document } = source;
  return {
    operationId: route.id,
    summary: route.summary,
    description: document.description,
    tags: [tag],
    ...toSecurity(document),
    parameters: toParameters(source, context),
    ...toRequestBody(source, context),
    responses: toResponses(source, context),
  };
}

export function toTemplate(path: string): string {
  return path.replaceAll(/:([A-Za-z0-9]+)/g, "{$1}");
}

/** OpenAPI's own list of scopes is for OAuth schemes only (4.8.30). */
function toSecurity({ callers }: OperationDocument): Json {
  return callers === "everyone"
    ? { security: [{}, { bearer: [] }] }
    : { security: [{ bearer: [] }], "x-scopes": callers };
}

function toParameters(
  { route, version, document }: OperationSource,
  { book, components }: DocumentContext,
): readonly Json[] {
  const parameters: Json[] = [
    ...writeParameters("path", document.path ?? {}, book),
    ...writeParameters("query", document.query ?? {}, book),
  ];
  if (route.method === "GET") parameters.push(components.parameter("IfNoneMatch"));
  if (document.ifMatch === "required") parameters.push(components.parameter("IfMatch"));
  if (document.ifMatch === "optional") parameters.push(components.parameter("OptionalIfMatch"));
  const key = route.idempotencyKey;
  if (key?.required.includes(version)) parameters.push(components.parameter("IdempotencyKey"));
  if (key?.optional.includes(version)) parameters.push(components.parameter("OptionalIdempotencyKey"));
  parameters.push(components.parameter("ConsistencyToken"));
  return parameters;
}

function writeParameters(where: "path" | "query", schemas: ParameterSchemas, book: SchemaBook): readonly Json[] {
  return Object.entries(schemas).map(([name, zodSchema]) => {
    const { description, ...schema } = book.write(zodSchema, "input");
    return { name, in: where, required: where === "path", description, schema };
  });
}

function toRequestBody({ route, document }: OperationSource, { book }: DocumentContext): Json {
  if (document.body === undefined) return {};
  const type = route.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const examples = document.examples.filter(({ body }) => body !== undefined);
  const content = {
    [type]: { schema: book.write(document.body, "input"), ...toExamples(examples, ({ body }) => body) },
  };
  return { requestBody: { required: true, content } };
}

/** Of an external service: those that the REST proxy adds to every request. */
export function parametersOfEveryRequest(isRead: boolean, components: Components): readonly Json[] {
  const receipt = components.parameter("ConsistencyToken");
  return isRead ? [components.parameter("IfNoneMatch"), receipt] : [receipt];
}

export interface PlatformResponseOptions {
  readonly isRead: boolean;
  readonly acceptsKey: boolean;
  readonly components: Components;
}

/** Of an external service: its responses, with the headers and the problems that the REST proxy adds. A status that it documents is its own. */
export function addPlatformResponses(
  own: Readonly<Record<string, Json>>,
  { isRead, acceptsKey, components }: PlatformResponseOptions,
): Json {
  const headers = components.headers(...headersOfEveryResponse, ...(isRead ? [] : headersOfWrites)) as object;
  const responses: Record<string, Json> = {};
  for (const [status, response] of Object.entries(own)) {
    const { headers: ownHeaders, ...members } = response as { readonly headers?: object };
    responses[status] = { description: "", ...members, headers: { ...headers, ...ownHeaders } };
  }
  if (isRead) responses[304] ??= toNotModified(components);
  const codes = [...codesOfEveryOperation];
  if (acceptsKey) codes.push("IDEMPOTENCY_KEY_IN_FLIGHT", "IDEMPOTENCY_KEY_REUSED");
  if (!isRead) codes.push("PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  for (const [status, codesOfStatus] of Map.groupBy(codes, (code) => statusOf[code]))
    responses[status] ??= components.problem(codesOfStatus);
  return responses;
}

function toNotModified(components: Components): Json {
  return {
    description: "The response that the client has stored is current.",
    headers: components.headers(...headersOfEveryResponse, "ETag"),
  };
}

const headersOfWrites = ["Consistency-Token"] as const;

function toResponses(source: OperationSource, { book, components }: DocumentContext): Json {
  const { route, document } = source;
  const { status, description, schema, links } = document.response;
  const isRead = route.method === "GET";
  const examples = document.examples.filter(({ response }) => response !== undefined);
  const bodyExamples = toExamples(examples, ({ response }) => response);
  const success: Record<string, unknown> = {
    description,
    headers: components.headers(...headersOfEveryResponse, ...headersOf(source), ...(isRead ? [] : headersOfWrites)),
  };
  if (schema !== undefined) {
    success["content"] = { "application/json": { schema: book.write(schema, "output"), ...bodyExamples } };
  }
  if (links !== undefined) success["links"] = toLinks(links);
  const responses: Record<string, Json> = {};
  responses[status] = success;
  if (isRead) responses[304] = toNotModified(components);
  const codesByStatus = Map.groupBy(problemsOf(source), (code) => statusOf[code]);
  for (const [problemStatus, codes] of [...codesByStatus].toSorted(([a], [b]) => a - b)) {
    responses[problemStatus] = components.problem(codes);
  }
  return responses;
}

function headersOf({ route, version, document: { response } }: OperationSource): readonly HeaderName[] {
  const headers: HeaderName[] = response.schema === undefined ? [] : ["ETag"];
  headers.push(...(response.headers ?? []));
  if (response.status === 201) headers.push("Location");
  if (acceptsIdempotencyKey(route, version)) headers.push("Idempotency-Replayed");
  return headers;
}

function acceptsIdempotencyKey({ idempotencyKey: key }: RouteDeclaration, version: number): boolean {
  return key?.required.includes(version) === true || key?.optional.includes(version) === true;
}

function toLinks(links: Readonly<Record<string, DocumentedLink>>): Json {
  const linkObjects = Object.entries(links).map(([name, { operation, parameters, description }]) => {
    return [name, { operationId: operation, parameters, description }];
  });
  return Object.fromEntries(linkObjects) as Json;
}

function toExamples(examples: readonly OperationExample[], valueOf: (example: OperationExample) => unknown): Json {
  if (examples.length === 0) return {};
  const entries = examples.map((example) => [example.name, { summary: example.summary, value: valueOf(example) }]);
  return { examples: Object.fromEntries(entries) };
}

function problemsOf({ route, version, document }: OperationSource): readonly ErrorCode[] {
  const possible = new Set<ErrorCode>([...codesOfEveryOperation, ...(document.problems ?? [])]);
  // The proxy rejects a path parameter that cannot be an id, before it forwards the request.
  if (document.path !== undefined) possible.add("NOT_FOUND");
  if (document.query?.["cursor"] !== undefined) possible.add("INVALID_CURSOR");
  if (document.callers !== "everyone") possible.add("FORBIDDEN");
  if (document.ifMatch !== undefined) possible.add("PRECONDITION_FAILED");
  if (document.ifMatch === "required") possible.add("PRECONDITION_REQUIRED");
  if (route.method !== "GET") possible.add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE");
  if (acceptsIdempotencyKey(route, version)) possible.add("IDEMPOTENCY_KEY_IN_FLIGHT").add("IDEMPOTENCY_KEY_REUSED");
  return (Object.keys(statusOf) as ErrorCode[]).filter((code) => possible.has(code));
}
