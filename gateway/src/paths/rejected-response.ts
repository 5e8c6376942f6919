// The HTTP responses to requests that were rejected at any stage, or failed because of a bug.
import { type OverloadedResponse, overloadedRetrySeconds } from "@tributary/kit/http/overloaded-response";
import type { TraceContext } from "@tributary/kit/http/trace-context";
import type { GraphQLFormattedError } from "graphql";
import { type ClientCode, codes, isClientCode } from "../errors/codes.ts";
import type { InvalidOperation } from "../errors/invalid-operation.ts";
import { Rejection, rejectionBody } from "../errors/rejections.ts";
import { statuses } from "../errors/statuses.ts";
import type { GatewayObserver, OperationIdentity } from "../observations.ts";
import { chooseStatus, type ClientResponse, contentTypeOf, type ResponseType } from "../response.ts";
import type { Settings } from "../settings.ts";

type StatusSettings = Pick<Settings, "usesDraftStatuses">;

interface RejectedRequest {
  readonly settings: StatusSettings;
  readonly requestId: string;
  readonly trace: TraceContext;
}

/**
 * The response for a request that failed with `error`. Any error but a Rejection is a bug: the client gets INTERNAL_SERVER_ERROR, and the
 * error is logged with its stack. Reports the rejection or the bug to `observe`; sends nothing.
 * @param identity undefined before the operation is validated.
 */
export function rejectRequest(
  observe: GatewayObserver,
  { settings, requestId, trace: { traceId } }: RejectedRequest,
  responseType: ResponseType,
  error: unknown,
  identity?: OperationIdentity,
): ClientResponse {
  const rejection = error instanceof Rejection ? error : new Rejection("INTERNAL_SERVER_ERROR");
  const isBug = rejection !== error;
  const { code, message, extensions } = rejection;
  const status = chooseStatus(rejection.statuses, responseType, settings);
  if (isBug) observe({ kind: "internal-error", requestId, traceId, ...identity, cause: error });
  else observe({ kind: "request-rejected", requestId, traceId, ...identity, code, status });
  return {
    status,
    contentType: contentTypeOf(responseType),
    headers: Object.entries(rejection.headers).flat(),
    body: Buffer.from(rejectionBody(code, message, extensions)),
    summary: { outcome: isBug ? "failed" : "rejected", codes: [code] },
  };
}

/** The response for an invalid document or invalid variables. */
export function rejectInvalid(
  { errors }: InvalidOperation,
  responseType: ResponseType,
  settings: StatusSettings,
): ClientResponse {
  const errorCodes = errors.map(readCode);
  // One cause: errors of different codes do not occur together.
  const [code = "INTERNAL_SERVER_ERROR"] = errorCodes;
  return {
    status: chooseStatus(codes[code].statuses, responseType, settings),
    contentType: contentTypeOf(responseType),
    body: Buffer.from(JSON.stringify({ errors })),
    summary: { outcome: "rejected", codes: errorCodes },
  };
}

function readCode({ extensions }: GraphQLFormattedError): ClientCode {
  const code = extensions?.["code"];
  return isClientCode(code) ? code : "INTERNAL_SERVER_ERROR";
}

/**
 * The response for a request that an overloaded gateway does not serve. It is created once, since it is sent when CPU time is scarce. The body has
 * been received, so the media type decides the status, as for every well-formed request.
 */
export function rejectOverloaded(responseType: ResponseType): ClientResponse {
  return overloadedResponses[responseType];
}

/** For requests that the server (main.ts) rejects before their body is read, because too many are in flight. */
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
  "application/json": createOverloadedResponse("application/json", statuses.overloaded.json),
  "application/graphql-response+json": createOverloadedResponse(
    "application/graphql-response+json",
    statuses.overloaded.graphql,
  ),
};
