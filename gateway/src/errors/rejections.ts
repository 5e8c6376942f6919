// Rejections of whole requests, at any stage, and the responses for them.
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { GraphQLError } from "graphql";
import type { GatewayObserver, OperationIdentity } from "../observations.ts";
import { type ClientResponse, contentTypeOf, type ResponseType, statusFor } from "../response.ts";
import { type ClientCode, codes } from "./codes.ts";
import { maskLibraryError } from "./library-errors.ts";

/** Thrown, or returned in place of a result, to reject a whole request. `message` and `headers` are for the client. */
export class Rejection extends Error {
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ClientCode, message?: string, headers: Readonly<Record<string, string>> = {}) {
    super(message ?? codes[code].message);
    this.name = "Rejection";
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return codes[this.code].status;
  }
}

/** The body of a rejection has the shape of a GraphQL response, so that every GraphQL client can read it. */
export function rejectionBody(code: ClientCode, message: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code } }] });
}

interface RejectedRequest {
  readonly requestId: string;
  readonly trace: TraceContext;
}

/**
 * The response for a request that failed with `error`. Any error but a Rejection is a bug: the client gets INTERNAL_SERVER_ERROR, and the
 * error is logged with its stack. Reports both to `observe`; sends nothing.
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
  const { code, message, status } = rejection;
  if (rejection === error) observe({ kind: "request-rejected", requestId, traceId, ...identity, code, status });
  else observe({ kind: "internal-error", requestId, traceId, ...identity, cause: error });
  return {
    status: dependsOnMediaType(code) ? statusFor(status, responseType) : status,
    contentType: contentTypeOf(responseType),
    headers: Object.entries(rejection.headers).flat(),
    body: Buffer.from(rejectionBody(code, message)),
    summary: { outcome: rejection === error ? "rejected" : "failed", codes: [code] },
  };
}

/** The response for variables that cannot be coerced: one error for each problem, with its location in the document. */
export function rejectVariables(problems: readonly GraphQLError[], responseType: ResponseType): ClientResponse {
  const code = "BAD_USER_INPUT";
  const errors = problems.map((problem) =>
    maskLibraryError({ ...problem.toJSON(), extensions: { code } }, problem, () => undefined),
  );
  return {
    status: statusFor(codes[code].status, responseType),
    contentType: contentTypeOf(responseType),
    body: Buffer.from(JSON.stringify({ errors })),
    summary: { outcome: "rejected", codes: problems.map(() => code) },
  };
}

/** The status of a rejection with a code of stage 1 does not depend on the media type: the document is not read yet. */
function dependsOnMediaType(code: ClientCode): boolean {
  return codes[code].stage !== "admit";
}
