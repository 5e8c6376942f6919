import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { OperationExample, ParameterSchemas, OperationDocument } from "@tributary/kit/openapi/openapi";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { type Components, headersOfEveryResponse } from "./openapi-components.ts";
import type { Json, SchemaBook } from "@tributary/kit/openapi/schema-book";

export interface OperationSource {
  readonly route: RouteDeclaration;
  readonly version: number;
  /** The name of the tag that the service declares, such as `Posts`. */
  readonly tag: string;
  readonly document: OperationDocument;
}

export interface DocumentContext {
  readonly book: SchemaBook;
  readonly components: Components;
}

/** Error codes of every operation. The REST proxy sends most of them itself. */
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

/** Writes an Operation Object (OpenAPI 3.1.1, 4.8.10). */
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

/** `/users/:id` becomes `/users/{id}`. */
export function toTemplate(path: string): string {
  return path.replaceAll(/:([A-Za-z0-9]+)/g, "{$1}");
}

/**
 * For `everyone`: no token, or any valid one. Otherwise a token with one of the scopes in `x-scopes`; OpenAPI's own list is for OAuth schemes only
 * (4.8.30).
 */
function toSecurity({ callers }: OperationDocument): Json {
  return callers === "everyone"
    ? { security: [{}, { bearer: [] }] }
    : { security: [{ bearer: [] }], "x-scopes": callers };
}

function toParameters(
  { route, version, document }: OperationSource,
  { book, components }: DocumentContext,
): readonly Json[] {
  const fields = (where: "path" | "query", given: ParameterSchemas = {}) =>
    Object.entries(given).map(([name, schema]) => {
      const { description, ...rest } = book.write(schema, "input");
      return { name, in: where, required: where === "path", description, schema: rest };
    });
  const key = route.idempotencyKey;
  return [
    ...fields("path", document.path),
    ...fields("query", document.query),
    ...(route.method === "GET" ? [components.parameter("IfNoneMatch")] : []),
    ...(document.ifMatch === "required" ? [components.parameter("IfMatch")] : []),
    ...(document.ifMatch === "optional" ? [components.parameter("OptionalIfMatch")] : []),
    ...(key?.required.includes(version) ? [components.parameter("IdempotencyKey")] : []),
    ...(key?.optional.includes(version) ? [components.parameter("OptionalIdempotencyKey")] : []),
    components.parameter("ConsistencyToken"),
  ];
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

const headersOfWrites = ["Consistency-Token"] as const;

function toResponses(source: OperationSource, { book, components }: DocumentContext): Json {
  const { route, document } = source;
  const { status, description, schema, headers = [], links } = document.response;
  const isRead = route.method === "GET";
  const examples = document.examples.filter((example) => example.status === status && example.response !== undefined);
  const bodyExamples = toExamples(examples, ({ response }) => response);
  const success: Json = {
    description,
    headers: components.headers(...headersOfEveryResponse, ...headers, ...(isRead ? [] : headersOfWrites)),
    ...(schema === undefined
      ? {}
      : { content: { "application/json": { schema: book.write(schema, "output"), ...bodyExamples } } }),
    ...(links === undefined ? {} : { links: toLinks(links) }),
  };
  const notModified: Json = {
    description: "The response that the client has stored is current.",
    headers: components.headers(...headersOfEveryResponse, "ETag"),
  };
  const problems = [...Map.groupBy(problemsOf(source), (code) => statusOf[code])].toSorted(([a], [b]) => a - b);
  return {
    [status]: success,
    ...(isRead ? { 304: notModified } : {}),
    ...Object.fromEntries(problems.map(([problemStatus, codes]) => [problemStatus, components.problem(codes)])),
  };
}

function toLinks(links: NonNullable<OperationDocument["response"]["links"]>): Json {
  return Object.fromEntries(
    Object.entries(links).map(([name, { operation, parameters, description }]) => [
      name,
      { operationId: operation, parameters, description },
    ]),
  );
}

function toExamples(examples: readonly OperationExample[], valueOf: (example: OperationExample) => unknown): Json {
  if (examples.length === 0) return {};
  const entries = examples.map((example) => [example.name, { summary: example.summary, value: valueOf(example) }]);
  return { examples: Object.fromEntries(entries) };
}

/** All error codes of an operation, in the order of `statusOf`. */
function problemsOf({ route, version, document }: OperationSource): readonly ErrorCode[] {
  const versionsWithKey = [...(route.idempotencyKey?.required ?? []), ...(route.idempotencyKey?.optional ?? [])];
  const groups: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [true, codesOfEveryOperation],
    [true, document.problems ?? []],
    // The proxy rejects a path parameter that cannot be an id, before it forwards the request.
    [document.path !== undefined, ["NOT_FOUND"]],
    [document.query?.["cursor"] !== undefined, ["INVALID_CURSOR"]],
    [document.callers !== "everyone", ["FORBIDDEN"]],
    [document.ifMatch !== undefined, ["PRECONDITION_FAILED"]],
    [document.ifMatch === "required", ["PRECONDITION_REQUIRED"]],
    [route.method !== "GET", ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"]],
    [versionsWithKey.includes(version), ["IDEMPOTENCY_KEY_IN_FLIGHT", "IDEMPOTENCY_KEY_REUSED"]],
  ];
  const possible = new Set(groups.flatMap(([applies, codes]) => (applies ? codes : [])));
  return (Object.keys(statusOf) as ErrorCode[]).filter((code) => possible.has(code));
}
