/** In GraphQL, that of a rejected request: an error of a field is in a 200. */
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

export const internalErrorMessage = "Internal error. Retry later.";

export interface Problem {
  /** A JSON Pointer into the value as sent, as a URI fragment (RFC 6901, 6). */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export interface ParameterProblem {
  /** The name, cut to 64 characters. */
  readonly parameter: string;
  readonly code: string;
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly Problem[];
  readonly parameterProblems?: readonly ParameterProblem[];
  readonly choices?: readonly string[];
  readonly retryAfterSeconds?: number;
  readonly dependency?: Dependency;
}

export type Dependency = "database" | "token-issuer";

/** An error that the client may read: `message` describes what it can do, `cause` is for the log. Any other error is a bug, and masked. */
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

/** The message is the detail of a single problem, or else their number. */
export function invalidInput(problems: readonly Problem[]): AppError {
  const [first] = problems;
  const message = problems.length === 1 && first ? first.detail : `${problems.length} values are invalid.`;
  return new AppError("BAD_USER_INPUT", message, { problems });
}
