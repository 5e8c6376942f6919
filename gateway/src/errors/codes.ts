// The error codes that clients of the gateway can receive, with their HTTP status and default message.
import { overloadedError } from "@tributary/kit/http/overloaded-response";
import { internalErrorMessage, statusOf } from "@tributary/kit/errors/app-error";

/** In order. */
export type Stage = "admit" | "parse" | "plan" | "run" | "shape";

export interface CodeDescription {
  /**
   * The first stage with this code. A code of `admit` has the same status for every media type: the request is not well-formed, its token is not
   * valid, or the gateway cannot serve it now. `any`: a bug.
   */
  readonly stage: Stage | "any";
  /** Of a response that rejects the whole request. A response with data has 200. */
  readonly status: number;
  /** parse/limits.ts replaces the messages of limits by messages with numbers. */
  readonly message: string;
}

/**
 * In the order of the stages. The rejection of a well-formed request has its status for clients that accept `application/graphql-response+json`, and
 * 200 for clients that accept only `application/json`. A bug is 500 for both.
 */
export const codes = {
  MALFORMED_REQUEST: {
    stage: "admit",
    status: statusOf.MALFORMED_REQUEST,
    message: "The request is not a GraphQL request.",
  },
  CSRF_PREVENTED: {
    stage: "admit",
    status: 400,
    message: "The request could have been sent by a page of another origin.",
  },
  NOT_FOUND: { stage: "admit", status: statusOf.NOT_FOUND, message: "There is no resource at this URL." },
  METHOD_NOT_ALLOWED: {
    stage: "admit",
    status: statusOf.METHOD_NOT_ALLOWED,
    message: "This URL does not support this method.",
  },
  NOT_ACCEPTABLE: { stage: "admit", status: statusOf.NOT_ACCEPTABLE, message: "Responses are JSON." },
  REQUEST_TIMEOUT: {
    stage: "admit",
    status: statusOf.REQUEST_TIMEOUT,
    message: "The request took too long to arrive.",
  },
  PAYLOAD_TOO_LARGE: { stage: "admit", status: statusOf.PAYLOAD_TOO_LARGE, message: "The body is too large." },
  UNSUPPORTED_MEDIA_TYPE: {
    stage: "admit",
    status: statusOf.UNSUPPORTED_MEDIA_TYPE,
    message: "The body must be application/json in UTF-8.",
  },
  HEADERS_TOO_LARGE: { stage: "admit", status: statusOf.HEADERS_TOO_LARGE, message: "The headers are too large." },
  /** Without a token, a field that requires one has this code in `errors[]`. */
  UNAUTHENTICATED: { stage: "admit", status: statusOf.UNAUTHENTICATED, message: "Send a valid token." },
  SERVICE_UNAVAILABLE: {
    stage: "admit",
    status: statusOf.SERVICE_UNAVAILABLE,
    message: "The gateway has not loaded a supergraph yet. Retry soon.",
  },

  /** Before a body is received completely, the status is 503 for every media type. */
  OVERLOADED: { stage: "parse", status: 503, message: overloadedError.message },
  GRAPHQL_PARSE_FAILED: { stage: "parse", status: 400, message: "The document has a syntax error." },
  GRAPHQL_VALIDATION_FAILED: { stage: "parse", status: 400, message: "The document is not valid against the schema." },
  OPERATION_RESOLUTION_FAILURE: { stage: "parse", status: 400, message: "The document has no such operation." },
  INTROSPECTION_DISABLED: { stage: "parse", status: 400, message: "Introspection is disabled." },
  TOKEN_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The document has too many tokens." },
  DEFINITION_LIMIT_EXCEEDED: {
    stage: "parse",
    status: 400,
    message: "The document has too many operations and fragments.",
  },
  VARIABLE_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many variables." },
  SELECTION_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many selections." },
  DEPTH_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation is nested too deeply." },
  ALIAS_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many aliases." },
  ROOT_FIELD_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many root fields." },
  DIRECTIVE_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many directives." },
  LIST_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "A list in the document is too long." },
  LENGTH_LIMIT_EXCEEDED: {
    stage: "parse",
    status: 400,
    message: "The names and values of the operation are too long.",
  },
  BAD_USER_INPUT: { stage: "parse", status: 400, message: "A value is not valid." },
  PERSISTED_QUERY_NOT_FOUND: { stage: "parse", status: 200, message: "PersistedQueryNotFound" },

  INTROSPECTION_TOO_LARGE: { stage: "plan", status: 400, message: "The introspection result is too large." },
  OPERATION_TOO_COMPLEX: { stage: "plan", status: 400, message: "The operation is too complex to be planned." },

  /** Before a body is read, the status is 429 for every media type. */
  RATE_LIMITED: { stage: "plan", status: statusOf.TOO_MANY_REQUESTS, message: "The rate limit is exceeded." },
  OPERATION_TOO_EXPENSIVE: {
    stage: "plan",
    status: 400,
    message: "The operation needs more fetches than the rate limit ever allows.",
  },

  OPERATION_NOT_RESOLVABLE: { stage: "plan", status: 400, message: "No service provides a part of this operation." },

  DEADLINE_EXCEEDED: {
    stage: "run",
    status: 200,
    message: "The request ran out of time before this field was fetched.",
  },
  SUBGRAPH_UNAVAILABLE: { stage: "run", status: 200, message: "The service behind this field cannot be reached." },
  SUBGRAPH_TIMEOUT: { stage: "run", status: 200, message: "The service behind this field did not respond in time." },
  SUBGRAPH_INVALID_RESPONSE: {
    stage: "run",
    status: 200,
    message: "The service behind this field sent an invalid response.",
  },
  SUBGRAPH_RESPONSE_TOO_LARGE: {
    stage: "run",
    status: 200,
    message: "The service behind this field sent too large a response.",
  },
  SUBGRAPH_ERROR: { stage: "run", status: 200, message: "The service behind this field failed." },

  FORBIDDEN: { stage: "run", status: 200, message: "Your token does not allow this." },
  CONFLICT: { stage: "run", status: 200, message: "The request conflicts with existing data." },
  OUT_OF_STOCK: { stage: "run", status: 200, message: "Not enough is available." },
  INVALID_STATE: { stage: "run", status: 200, message: "The current state does not allow this." },
  GONE: { stage: "run", status: 200, message: "The resource no longer exists." },
  INVALID_CURSOR: { stage: "run", status: 200, message: "The cursor is not valid for this list." },
  PRECONDITION_FAILED: { stage: "run", status: 200, message: "The resource has changed since you read it." },
  TOO_MANY_REQUESTS: { stage: "run", status: 200, message: "Too many requests." },
  IDEMPOTENCY_KEY_IN_FLIGHT: { stage: "run", status: 200, message: "A request with this key is in flight." },
  IDEMPOTENCY_KEY_REUSED: { stage: "run", status: 200, message: "This key was used for another request." },

  FIELD_NOT_PROVIDED: { stage: "shape", status: 200, message: "No service provides this field here." },
  INVALID_FIELD_VALUE: { stage: "shape", status: 200, message: "The value of this field does not fit the schema." },
  INTERNAL_SERVER_ERROR: {
    stage: "any",
    status: statusOf.INTERNAL_SERVER_ERROR,
    message: internalErrorMessage,
  },
} as const satisfies Record<string, CodeDescription>;

export type ClientCode = keyof typeof codes;

/** Empty for a code that only fields have; two statuses if the media type decides. */
export function listRejectionStatuses(code: ClientCode): readonly number[] {
  const { stage, status } = codes[code];
  switch (stage) {
    case "admit":
    case "any":
      return [status];
    case "parse":
    case "plan":
      return status === 200 ? [200] : [200, status];
    case "run":
    case "shape":
      return [];
  }
}

const forwardedCodes: ReadonlySet<string> = new Set<ClientCode>([
  "BAD_USER_INPUT",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CONFLICT",
  "OUT_OF_STOCK",
  "INVALID_STATE",
  "GONE",
  "INVALID_CURSOR",
  "PRECONDITION_FAILED",
  "TOO_MANY_REQUESTS",
  "IDEMPOTENCY_KEY_IN_FLIGHT",
  "IDEMPOTENCY_KEY_REUSED",
]);

/** Whether a subgraph's error is for the client: its message and `extensions.problems` are forwarded. Any other error is masked and logged. */
export function isForwardedCode(code: unknown): code is ClientCode {
  return typeof code === "string" && forwardedCodes.has(code);
}

/** SERVICE_UNAVAILABLE of a service, whose database is down, becomes the code for a service that cannot be reached. */
export function toClientCode(subgraphCode: unknown): ClientCode {
  if (subgraphCode === "SERVICE_UNAVAILABLE") return "SUBGRAPH_UNAVAILABLE";
  return isForwardedCode(subgraphCode) ? subgraphCode : "SUBGRAPH_ERROR";
}

export function isClientCode(code: unknown): code is ClientCode {
  return typeof code === "string" && Object.hasOwn(codes, code);
}
