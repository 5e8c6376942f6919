// The error codes that clients of the gateway can receive, with their HTTP statuses and default message.
import { overloadedError } from "@tributary/kit/http/overloaded-response";
import { internalErrorMessage, statusOf } from "@tributary/kit/errors/app-error";
import { sameFor, type Statuses, statuses } from "./statuses.ts";

/** In order. */
export type Stage = "admit" | "parse" | "plan" | "run" | "shape";

export interface CodeDescription {
  /** The first stage with this code. `any`: a bug. */
  readonly stage: Stage | "any";
  /** Of a response that rejects the whole request, or, if only fields have the code, of the response with its data. */
  readonly statuses: Statuses;
  /** parse/limits.ts replaces the messages of limits by messages with numbers. */
  readonly message: string;
}

/** In the order of the stages. */
export const codes = {
  MALFORMED_REQUEST: admit(statusOf.MALFORMED_REQUEST, "The request is not a GraphQL request."),
  CSRF_PREVENTED: admit(400, "The request could have been sent by a page of another origin."),
  NOT_FOUND: admit(statusOf.NOT_FOUND, "There is no resource at this URL."),
  METHOD_NOT_ALLOWED: admit(statusOf.METHOD_NOT_ALLOWED, "This URL does not support this method."),
  NOT_ACCEPTABLE: admit(statusOf.NOT_ACCEPTABLE, "Responses are JSON."),
  REQUEST_TIMEOUT: admit(statusOf.REQUEST_TIMEOUT, "The request took too long to arrive."),
  PAYLOAD_TOO_LARGE: admit(statusOf.PAYLOAD_TOO_LARGE, "The body is too large."),
  UNSUPPORTED_MEDIA_TYPE: admit(statusOf.UNSUPPORTED_MEDIA_TYPE, "The body must be application/json in UTF-8."),
  HEADERS_TOO_LARGE: admit(statusOf.HEADERS_TOO_LARGE, "The headers are too large."),
  /** Without a token, a field that requires one has this code in `errors[]`. */
  UNAUTHENTICATED: admit(statusOf.UNAUTHENTICATED, "Send a valid token."),
  SERVICE_UNAVAILABLE: admit(statusOf.SERVICE_UNAVAILABLE, "The gateway has not loaded a supergraph yet. Retry soon."),

  OVERLOADED: describe("parse", statuses.overloaded, overloadedError.message),
  GRAPHQL_PARSE_FAILED: describe("parse", statuses.syntaxError, "The document has a syntax error."),
  GRAPHQL_VALIDATION_FAILED: invalid("The document is not valid against the schema."),
  OPERATION_RESOLUTION_FAILURE: invalid("The document has no such operation."),
  INTROSPECTION_DISABLED: invalid("Introspection is disabled."),
  TOKEN_LIMIT_EXCEEDED: invalid("The document has too many tokens."),
  DEFINITION_LIMIT_EXCEEDED: invalid("The document has too many operations and fragments."),
  VARIABLE_LIMIT_EXCEEDED: invalid("The operation has too many variables."),
  SELECTION_LIMIT_EXCEEDED: invalid("The operation has too many selections."),
  DEPTH_LIMIT_EXCEEDED: invalid("The operation is nested too deeply."),
  ALIAS_LIMIT_EXCEEDED: invalid("The operation has too many aliases."),
  ROOT_FIELD_LIMIT_EXCEEDED: invalid("The operation has too many root fields."),
  DIRECTIVE_LIMIT_EXCEEDED: invalid("The operation has too many directives."),
  LIST_LIMIT_EXCEEDED: invalid("A list in the document is too long."),
  PAGE_LIMIT_EXCEEDED: invalid("The lists of the operation can have too many entries."),
  LENGTH_LIMIT_EXCEEDED: invalid("The names and values of the operation are too long."),
  BAD_USER_INPUT: invalid("A value is not valid."),
  BLOCKED: describe("parse", statuses.blocked, "The operator has blocked this request."),
  DOCUMENT_NOT_TRUSTED: describe(
    "parse",
    statuses.blocked,
    "The gateway executes only documents that a client has registered, and this is none of them.",
  ),
  PERSISTED_QUERY_NOT_FOUND: describe("parse", statuses.unknownHash, "PersistedQueryNotFound"),

  INTROSPECTION_TOO_LARGE: describe("plan", statuses.invalid, "The introspection result is too large."),
  OPERATION_TOO_COMPLEX: describe("plan", statuses.invalid, "The operation is too complex to be planned."),

  RATE_LIMITED: describe("plan", statuses.rateLimited, "The rate limit is exceeded."),
  OPERATION_TOO_EXPENSIVE: describe(
    "plan",
    statuses.invalid,
    "The operation needs more fetches than the rate limit ever allows.",
  ),

  OPERATION_NOT_RESOLVABLE: describe("plan", statuses.invalid, "No service provides a part of this operation."),

  DEADLINE_EXCEEDED: field("The request ran out of time before this field was fetched."),
  SUBGRAPH_UNAVAILABLE: field("The service behind this field cannot be reached."),
  SUBGRAPH_TIMEOUT: field("The service behind this field did not respond in time."),
  SUBGRAPH_INVALID_RESPONSE: field("The service behind this field sent an invalid response."),
  SUBGRAPH_RESPONSE_TOO_LARGE: field("The service behind this field sent too large a response."),
  SUBGRAPH_ERROR: field("The service behind this field failed."),
  /** `data` is null. */
  RESULT_TOO_LARGE: field("The result of the operation is too large. Select less."),

  FORBIDDEN: field("Your token does not allow this."),

  FIELD_NOT_PROVIDED: describe("shape", statuses.resultWithErrors, "No service provides this field here."),
  INVALID_FIELD_VALUE: describe("shape", statuses.resultWithErrors, "The value of this field does not fit the schema."),
  INTERNAL_SERVER_ERROR: describe("any", sameFor(statusOf.INTERNAL_SERVER_ERROR), internalErrorMessage),
};

export type ClientCode = keyof typeof codes;

function describe(stage: CodeDescription["stage"], ofResponse: Statuses, message: string): CodeDescription {
  return { stage, statuses: ofResponse, message };
}

function admit(status: number, message: string): CodeDescription {
  return describe("admit", sameFor(status), message);
}

/** Of an operation that stage 2 rejects. */
function invalid(message: string): CodeDescription {
  return describe("parse", statuses.invalid, message);
}

/** Only fields have it. */
function field(message: string): CodeDescription {
  return describe("run", statuses.resultWithErrors, message);
}

/** Every status that a rejection with this code can have. Empty for a code that only fields have. */
export function listRejectionStatuses(code: ClientCode): readonly number[] {
  const { stage, statuses: ofCode } = codes[code];
  if (stage === "run" || stage === "shape") return [];
  const ofBody = code === "MALFORMED_REQUEST" ? Object.values(statuses.notGraphql) : [];
  return [...new Set([...Object.values(ofCode), ...ofBody])];
}

/** Of an error that the subgraph's settings mask. SERVICE_UNAVAILABLE is what a service reports whose database is down. */
export function toMaskedCode(subgraphCode: unknown): "SUBGRAPH_UNAVAILABLE" | "SUBGRAPH_ERROR" {
  return subgraphCode === "SERVICE_UNAVAILABLE" ? "SUBGRAPH_UNAVAILABLE" : "SUBGRAPH_ERROR";
}

/** Of a field, for codes that other stages have too: their messages there are about the request. */
const fieldMessages: ReadonlyMap<string, string> = new Map([
  ["UNAUTHENTICATED", "This field requires a valid token."],
  ["NOT_FOUND", "The object of this field does not exist."],
  ["BAD_USER_INPUT", "A value that this field was given is not valid."],
]);

/** Of a subgraph's error without a message, or whose message is masked. */
export function fieldMessageOf(code: string): string {
  return (
    fieldMessages.get(code) ??
    (isClientCode(code) ? codes[code].message : "The service behind this field rejected the request.")
  );
}

export function isClientCode(code: unknown): code is ClientCode {
  return typeof code === "string" && Object.hasOwn(codes, code);
}
