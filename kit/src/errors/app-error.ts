/** Every code one of our processes can answer with, and the HTTP status that goes with it. A code without a status does not compile. */
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

/** One thing that is wrong with the body of a request, or with the arguments of a GraphQL field. `pointer` is a JSON Pointer into the body as the caller sent it (RFC 6901, URI fragment form). */
export interface Problem {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** What is wrong with one query parameter; its name is at most 64 characters of what the client sent. */
export interface ParameterProblem {
  readonly parameter: string;
  readonly code: string;
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly Problem[];
  /** What is wrong with the query of a REST request. */
  readonly parameterProblems?: readonly ParameterProblem[];
  /** What could be asked for instead: media ranges, for a 406. */
  readonly choices?: readonly string[];
  readonly retryAfterSeconds?: number;
  /** The system whose failure causes this one; failures are counted by it in the log. */
  readonly dependency?: Dependency;
}

/** Systems that a service needs to serve requests. */
export type Dependency = "database" | "token-issuer";

/**
 * A refusal that the caller may read. `message` is for the caller and says what they can do; `cause` is for the log.
 * Whatever is not an AppError is a bug: masked, logged whole.
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

/** What validation refuses: every problem at once, in both doors under the same code. */
export function invalidInput(problems: readonly Problem[]): AppError {
  const [first] = problems;
  const message = problems.length === 1 && first ? first.detail : `${problems.length} values are not acceptable.`;
  return new AppError("BAD_USER_INPUT", message, { problems });
}
