/** Where a request is in its life when the gateway says a code. */
type Stage = "admit" | "parse" | "plan" | "run" | "shape";

export interface CodeDescription {
  readonly stage: Stage;
  /** The HTTP status when nothing but this is answered. Codes of `run` and `shape` stand in `errors[]` beside data, in a 200. */
  readonly status: number;
  /** What a client reads when nothing more exact is said. Fit for strangers. */
  readonly message: string;
}

/**
 * Every code a client of the gateway can see, by the stage that says it. Codes of `parse` are 400 only for clients that accept
 * `application/graphql-response+json`; with `application/json` a well-formed request is 200.
 */
export const codes = {
  MALFORMED_REQUEST: { stage: "admit", status: 400, message: "The request is not a GraphQL request." },
  CSRF_PREVENTED: { stage: "admit", status: 400, message: "The request could have been sent by a foreign web page." },
  NOT_FOUND: { stage: "admit", status: 404, message: "There is nothing at this address." },
  METHOD_NOT_ALLOWED: { stage: "admit", status: 405, message: "This address does not answer to this method." },
  NOT_ACCEPTABLE: { stage: "admit", status: 406, message: "Answers are JSON." },
  REQUEST_TIMEOUT: { stage: "admit", status: 408, message: "The request took too long." },
  PAYLOAD_TOO_LARGE: { stage: "admit", status: 413, message: "The body is too large." },
  UNSUPPORTED_MEDIA_TYPE: { stage: "admit", status: 415, message: "The body must be application/json in UTF-8." },
  HEADERS_TOO_LARGE: { stage: "admit", status: 431, message: "The headers are too large." },
  SERVICE_UNAVAILABLE: { stage: "admit", status: 503, message: "The gateway has no supergraph yet. Try again soon." },

  GRAPHQL_PARSE_FAILED: { stage: "parse", status: 400, message: "The document is not GraphQL." },
  GRAPHQL_VALIDATION_FAILED: { stage: "parse", status: 400, message: "The document does not fit the schema." },
  OPERATION_RESOLUTION_FAILURE: { stage: "parse", status: 400, message: "The document has no such operation." },
  INTROSPECTION_DISABLED: { stage: "parse", status: 400, message: "Introspection is closed here." },
  TOKEN_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The document has too many tokens." },
  SELECTION_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation selects too much." },
  DEPTH_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation is too deep." },
  ALIAS_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many aliases." },
  ROOT_FIELD_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many root fields." },
  DIRECTIVE_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "The operation has too many directives." },
  LIST_LIMIT_EXCEEDED: { stage: "parse", status: 400, message: "A list in the document is too long." },
  LENGTH_LIMIT_EXCEEDED: {
    stage: "parse",
    status: 400,
    message: "The names and values of the operation are too long.",
  },
  PERSISTED_QUERY_NOT_FOUND: { stage: "parse", status: 200, message: "PersistedQueryNotFound" },

  INTROSPECTION_TOO_LARGE: { stage: "plan", status: 400, message: "The response to the introspection is too large." },
  OPERATION_TOO_COMPLEX: { stage: "plan", status: 400, message: "The operation is too complex to be planned." },

  OPERATION_NOT_RESOLVABLE: { stage: "plan", status: 400, message: "No service can answer a part of this operation." },
  FIELD_NOT_PROVIDED: { stage: "plan", status: 200, message: "No service can answer this field here." },

  SUBGRAPH_UNAVAILABLE: { stage: "run", status: 200, message: "The service behind this field cannot be reached." },
  SUBGRAPH_TIMEOUT: { stage: "run", status: 200, message: "The service behind this field did not answer in time." },
  SUBGRAPH_BAD_ANSWER: {
    stage: "run",
    status: 200,
    message: "The service behind this field gave an answer that cannot be used.",
  },
  SUBGRAPH_ANSWER_TOO_LARGE: {
    stage: "run",
    status: 200,
    message: "The service behind this field gave too large an answer.",
  },
  SUBGRAPH_ERROR: { stage: "run", status: 200, message: "The service behind this field failed." },

  BAD_USER_INPUT: { stage: "run", status: 400, message: "A value is not acceptable." },
  UNAUTHENTICATED: { stage: "run", status: 200, message: "This needs a valid token." },
  FORBIDDEN: { stage: "run", status: 200, message: "Your token does not allow this." },
  CONFLICT: { stage: "run", status: 200, message: "This conflicts with what is there." },
  OUT_OF_STOCK: { stage: "run", status: 200, message: "There is not enough left." },
  INVALID_STATE: { stage: "run", status: 200, message: "The state does not allow this." },
  GONE: { stage: "run", status: 200, message: "This is gone." },
  INVALID_CURSOR: { stage: "run", status: 200, message: "The cursor is not valid here." },
  PRECONDITION_FAILED: { stage: "run", status: 200, message: "It has changed in the meantime." },
  TOO_MANY_REQUESTS: { stage: "run", status: 200, message: "Too many requests." },
  IDEMPOTENCY_KEY_IN_FLIGHT: { stage: "run", status: 200, message: "A request with this key is under way." },
  IDEMPOTENCY_KEY_REUSED: { stage: "run", status: 200, message: "This key was used for another request." },

  INVALID_FIELD_VALUE: { stage: "shape", status: 200, message: "The value of this field does not fit the schema." },
  INTERNAL_SERVER_ERROR: { stage: "shape", status: 500, message: "Something went wrong on our side." },
} as const satisfies Record<string, CodeDescription>;

export type ClientCode = keyof typeof codes;

const clientFacingCodes: ReadonlySet<string> = new Set<ClientCode>([
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

/**
 * Whether a subgraph's error with this code is meant for the client: its message and problems are forwarded. Any other error of a
 * subgraph is masked, and its kind is logged.
 */
export function isClientFacingCode(code: unknown): code is ClientCode {
  return typeof code === "string" && clientFacingCodes.has(code);
}

/**
 * The code that a client reads for an entry in a subgraph's `errors[]`. A service sends SERVICE_UNAVAILABLE while its database is down: to
 * the client that is the same as a service that cannot be reached. Any other code that is not for clients is masked.
 */
export function toClientCode(subgraphCode: unknown): ClientCode {
  if (subgraphCode === "SERVICE_UNAVAILABLE") return "SUBGRAPH_UNAVAILABLE";
  return isClientFacingCode(subgraphCode) ? subgraphCode : "SUBGRAPH_ERROR";
}

export function isClientCode(code: unknown): code is ClientCode {
  return typeof code === "string" && Object.hasOwn(codes, code);
}

/** The gateway refuses a request as a whole. `message` is for the client. */
export class Refusal extends Error {
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ClientCode, message?: string, headers: Readonly<Record<string, string>> = {}) {
    super(message ?? codes[code].message);
    this.name = "Refusal";
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return codes[this.code].status;
  }
}

/** The body of a refusal: the shape of a GraphQL answer, so that every client can read it. */
export function refusalBody(code: ClientCode, message: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code } }] });
}
