// The errors that a client may read. The gateway's codes for GraphQL are in gateway/src/errors/codes.ts.

/**
 * Every error code of the services and the REST proxy, with its HTTP status. The status counts for REST, and for GraphQL requests that are
 * rejected before execution; an error of a field is in a 200.
 */
export const statusOf = {
  MALFORMED_REQUEST: 400,
  UNKNOWN_PARAMETER: 400,
  INVALID_CURSOR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  OUT_OF_STOCK: 409,
  INVALID_STATE: 409,
  IDEMPOTENCY_KEY_IN_FLIGHT: 409,
  GONE: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BAD_USER_INPUT: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  PRECONDITION_REQUIRED: 428,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_SERVER_ERROR: 500,
  BAD_GATEWAY: 502,
  SERVICE_UNAVAILABLE: 503,
  GATEWAY_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** The client's message of every masked error (INTERNAL_SERVER_ERROR), in all processes. */
export const internalErrorMessage = "Internal error. Retry later.";

/** One error in a request body or in the arguments of a GraphQL field. */
export interface Problem {
  /** A JSON Pointer into the value as sent, as a URI fragment (RFC 6901, 6). */
  readonly pointer: string;
  /** The kind of problem, such as `required`; not an `ErrorCode`. */
  readonly code: string;
  /** A sentence for the client. */
  readonly detail: string;
}

/** One error in a query parameter. */
export interface ParameterProblem {
  /** The name, cut to 64 characters. */
  readonly parameter: string;
  /** The kind of problem, such as `unknown_parameter`; not an `ErrorCode`. */
  readonly code: string;
  /** A sentence for the client. */
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Errors in the body, or in the arguments of a GraphQL field. */
  readonly problems?: readonly Problem[];
  /** Errors in the query of a REST request. */
  readonly parameterProblems?: readonly ParameterProblem[];
  /** For a 406: the media types that the path offers. */
  readonly choices?: readonly string[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The system that caused the failure. The log counts failures by it. */
  readonly dependency?: Dependency;
}

/** Systems that every service needs to serve requests. */
export type Dependency = "database" | "token-issuer";

/**
 * An error that the client may read. `message` is for the client and describes what it can do; `cause` is only for the log. Any other error is a
 * bug: the client gets `internalErrorMessage`, and the log the stack.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[] | undefined;
  readonly parameterProblems: readonly ParameterProblem[] | undefined;
  readonly choices: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly dependency: Dependency | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.problems = options.problems;
    this.parameterProblems = options.parameterProblems;
    this.choices = options.choices;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.dependency = options.dependency;
  }
}

/**
 * Creates BAD_USER_INPUT, which both endpoints of a service use for invalid input.
 * @param problems at least one. The message is the detail of a single problem, or else their number.
 */
export function invalidInput(problems: readonly Problem[]): AppError {
  const [first] = problems;
  const message = problems.length === 1 && first ? first.detail : `${problems.length} values are invalid.`;
  return new AppError("BAD_USER_INPUT", message, { problems });
}
