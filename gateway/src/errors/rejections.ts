// Rejections of whole requests, at any stage, and the responses for them.
import { type OverloadedResponse, overloadedRetrySeconds } from "@tributary/kit/http/overloaded-response";
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { GraphQLFormattedError } from "graphql";
import type { GatewayObserver, OperationIdentity } from "../observations.ts";
import { type ClientResponse, contentTypeOf, type ResponseType, statusFor } from "../response.ts";
import { type ClientCode, codes } from "./codes.ts";
import { maskLibraryError } from "./library-errors.ts";

export interface RejectionDetails {
  /** Besides the code. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  /** The status is then the same for every media type. Codes of stage 1 imply it. */
  readonly isBodyUnused?: boolean;
}

/** Thrown, or returned in place of a result. `message`, `headers` and `extensions` are for the client. */
export class Rejection extends Error {
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: RejectionDetails["extensions"];
  /** The status is 200 for clients that accept only `application/json` (GraphQL over HTTP). */
  readonly dependsOnMediaType: boolean;

  constructor(
    code: ClientCode,
    message?: string,
    headers: Readonly<Record<string, string>> = {},
    { extensions, isBodyUnused = false }: RejectionDetails = {},
  ) {
    super(message ?? codes[code].message);
    this.name = "Rejection";
    this.code = code;
    this.headers = headers;
    this.extensions = extensions;
    this.dependsOnMediaType = codes[code].stage !== "admit" && !isBodyUnused;
  }

  get status(): number {
    return codes[this.code].status;
  }
}

/** As a GraphQL response, so that every GraphQL client can read it. */
export function rejectionBody(
  code: ClientCode,
  message: string,
  extensions: RejectionDetails["extensions"] = {},
): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, ...extensions } }] });
}

interface RejectedRequest {
  readonly requestId: string;
  readonly trace: TraceContext;
}

/**
 * Any error but a Rejection is a bug: the client gets INTERNAL_SERVER_ERROR, and the error is logged with its stack. Sends nothing.
 * @param identity undefined before the operation is validated.
 */
export function rejectRequest(
  observe: GatewayObserver,
  { requestId, trace: { traceId } }: RejectedRequest,
  responseType: ResponseType,
  error: unknown,
  identity?: OperationIdentity,
): ClientResponse {
  const rejection = error instanceof Rejection ? error : new Rejection("INTERNAL_SERVER_ERROR");
  const isBug = rejection !== error;
  const { code, message, status, extensions } = rejection;
  if (isBug) observe({ kind: "internal-error", requestId, traceId, ...identity, cause: error });
  else observe({ kind: "request-rejected", requestId, traceId, ...identity, code, status });
  return {
    status: rejection.dependsOnMediaType ? statusFor(status, responseType) : status,
    contentType: contentTypeOf(responseType),
    headers: Object.entries(rejection.headers).flat(),
    body: Buffer.from(rejectionBody(code, message, extensions)),
    summary: { outcome: isBug ? "failed" : "rejected", codes: [code] },
  };
}

/** One error for each problem, with its location in the document. */
export function rejectVariables(
  problems: readonly GraphQLFormattedError[],
  responseType: ResponseType,
): ClientResponse {
  const code = "BAD_USER_INPUT";
  const onBug = () => undefined;
  const errors = problems.map((problem) => maskLibraryError({ ...problem, extensions: { code } }, problem, onBug));
  return {
    status: statusFor(codes[code].status, responseType),
    contentType: contentTypeOf(responseType),
    body: Buffer.from(JSON.stringify({ errors })),
    summary: { outcome: "rejected", codes: problems.map(() => code) },
  };
}

/** Created once, since it is sent when CPU time is scarce. The body has been received, so the media type decides the status. */
export function rejectOverloaded(responseType: ResponseType): ClientResponse {
  return overloadedResponses[responseType];
}

/** Sent before a body is read, because too many requests are in flight. */
export const overloadedResponse: OverloadedResponse = {
  contentType: contentTypeOf("application/json"),
  body: rejectionBody("OVERLOADED", codes.OVERLOADED.message),
};

const overloadedSummary = { outcome: "rejected", codes: ["OVERLOADED"] } as const;
const overloadedBody = Buffer.from(overloadedResponse.body);

function createOverloadedResponse(responseType: ResponseType, status: number): ClientResponse {
  const headers = ["Retry-After", String(overloadedRetrySeconds)];
  return {
    status,
    contentType: contentTypeOf(responseType),
    headers,
    body: overloadedBody,
    summary: overloadedSummary,
  };
}

const overloadedResponses: Readonly<Record<ResponseType, ClientResponse>> = {
  "application/json": createOverloadedResponse("application/json", 200),
  "application/graphql-response+json": createOverloadedResponse(
    "application/graphql-response+json",
    codes.OVERLOADED.status,
  ),
};
