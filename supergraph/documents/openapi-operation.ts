import { type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { Example, Fields, OperationDocument } from "@tributary/kit/openapi/openapi";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { type Components, headersOfEveryAnswer } from "./openapi-components.ts";
import type { Json, SchemaBook } from "@tributary/kit/openapi/schema-book";

export interface OperationSource {
  readonly route: RouteDeclaration;
  readonly version: number;
  readonly tag: string;
  readonly document: OperationDocument;
}

export interface Writing {
  readonly book: SchemaBook;
  readonly components: Components;
}

/** What any operation can answer, whatever it does: most of it is said before a service is asked. */
const everywhere: readonly ErrorCode[] = [
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

/** An Operation Object (OpenAPI 3.1.1, 4.8.10). */
export function toOperation(source: OperationSource, writing: Writing): Json {
  const { route, tag, document } = source;
  const parameters = toParameters(source, writing);
  return {
    operationId: route.id,
    summary: route.summary,
    description: document.description,
    tags: [tag],
    ...toSecurity(document),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...toRequestBody(source, writing),
    responses: toResponses(source, writing),
  };
}

/** `/users/:id` as OpenAPI spells it. */
export function toTemplate(path: string): string {
  return path.replaceAll(/:([A-Za-z0-9]+)/g, "{$1}");
}

/** Anybody, with a token that holds or without; or a token with one of the scopes, which only schemes with flows may list (4.8.30). */
function toSecurity({ callers }: OperationDocument): Json {
  return callers === "everyone"
    ? { security: [{}, { bearer: [] }] }
    : { security: [{ bearer: [] }], "x-scopes": callers };
}

function toParameters({ route, version, document }: OperationSource, { book, components }: Writing): readonly Json[] {
  const fields = (where: "path" | "query", given: Fields = {}) =>
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
  ];
}

function toRequestBody({ route, document }: OperationSource, { book }: Writing): Json {
  if (document.body === undefined) return {};
  const type = route.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const examples = document.examples.filter(({ body }) => body !== undefined);
  const content = {
    [type]: { schema: book.write(document.body, "input"), ...toExamples(examples, ({ body }) => body) },
  };
  return { requestBody: { required: true, content } };
}

function toResponses(source: OperationSource, { book, components }: Writing): Json {
  const { route, document } = source;
  const { status, description, schema, headers = [], links } = document.answer;
  const examples = document.examples.filter((example) => example.status === status && example.answer !== undefined);
  const body = { ...toExamples(examples, ({ answer }) => answer) };
  const success: Json = {
    description,
    headers: components.headers(...headersOfEveryAnswer, ...headers),
    ...(schema === undefined
      ? {}
      : { content: { "application/json": { schema: book.write(schema, "output"), ...body } } }),
    ...(links === undefined ? {} : { links: toLinks(links) }),
  };
  const kept: Json = {
    description: "The copy that the client has still holds.",
    headers: components.headers(...headersOfEveryAnswer, "ETag"),
  };
  const problems = [...Map.groupBy(problemsOf(source), (code) => statusOf[code])].toSorted(([a], [b]) => a - b);
  return {
    [status]: success,
    ...(route.method === "GET" ? { 304: kept } : {}),
    ...Object.fromEntries(problems.map(([status, codes]) => [status, components.problem(codes)])),
  };
}

function toLinks(links: NonNullable<OperationDocument["answer"]["links"]>): Json {
  return Object.fromEntries(
    Object.entries(links).map(([name, { operation, parameters, description }]) => [
      name,
      { operationId: operation, parameters, description },
    ]),
  );
}

function toExamples(examples: readonly Example[], valueOf: (example: Example) => unknown): Json {
  if (examples.length === 0) return {};
  const entries = examples.map((example) => [example.name, { summary: example.summary, value: valueOf(example) }]);
  return { examples: Object.fromEntries(entries) };
}

/** All codes of an operation, in the order of the catalogue. */
function problemsOf({ route, version, document }: OperationSource): readonly ErrorCode[] {
  const takesKey = [...(route.idempotencyKey?.required ?? []), ...(route.idempotencyKey?.optional ?? [])];
  const groups: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [true, everywhere],
    [true, document.problems ?? []],
    // A path's parameter that no id can be is answered before the service is asked.
    [document.path !== undefined, ["NOT_FOUND"]],
    [document.query?.["cursor"] !== undefined, ["INVALID_CURSOR"]],
    [document.callers !== "everyone", ["FORBIDDEN"]],
    [document.ifMatch !== undefined, ["PRECONDITION_FAILED"]],
    [document.ifMatch === "required", ["PRECONDITION_REQUIRED"]],
    [route.method !== "GET", ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"]],
    [takesKey.includes(version), ["IDEMPOTENCY_KEY_IN_FLIGHT", "IDEMPOTENCY_KEY_REUSED"]],
  ];
  const found = new Set(groups.flatMap(([holds, codes]) => (holds ? codes : [])));
  return (Object.keys(statusOf) as ErrorCode[]).filter((code) => found.has(code));
}
