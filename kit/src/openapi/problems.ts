import type { ErrorCode } from "../errors/app-error.ts";

/** For the page under `/problems` and the OpenAPI documents, not for responses. */
export interface Explanation {
  readonly means: string;
  readonly remedy: string;
}

export const problemExplanations: Readonly<Record<ErrorCode, Explanation>> = {
  MALFORMED_REQUEST: {
    means: "The request is malformed: its syntax, its path, its query, a header or its JSON is invalid.",
    remedy: "Read `detail`, and `errors` for query parameters. Correct the request before you send it again.",
  },
  UNKNOWN_PARAMETER: {
    means: "The query has a parameter that this path does not accept. `errors` names each of them.",
    remedy: "Remove the parameter, or correct its name.",
  },
  INVALID_CURSOR: {
    means: "The cursor is invalid, or belongs to another list or to other filters.",
    remedy: "Start again without `cursor`, and use the same filters for all pages.",
  },
  UNAUTHENTICATED: {
    means:
      "The request requires a token and has none, or its token is invalid: expired, or not from the trusted issuer.",
    remedy: "Send `Authorization: Bearer <token>` with a valid token.",
  },
  FORBIDDEN: {
    means: "The token does not permit this operation.",
    remedy: "Use a token of the resource's owner, with one of the scopes that the operation lists.",
  },
  NOT_FOUND: {
    means:
      "There is no resource at this path, or the caller may not read it. The response does not distinguish the two.",
    remedy: "Check the path and the id. A private resource requires its owner's token.",
  },
  METHOD_NOT_ALLOWED: {
    means: "The path exists, but does not support this method.",
    remedy: "Use one of the methods in `Allow`.",
  },
  NOT_ACCEPTABLE: {
    means: "`Accept` matches none of the available media types. `choices` lists them.",
    remedy: "Accept `application/json` or one of the choices.",
  },
  REQUEST_TIMEOUT: {
    means: "The request was not complete in time.",
    remedy: "Send the complete request without pauses.",
  },
  CONFLICT: {
    means: "The request conflicts with the current state, such as a name that is already in use.",
    remedy: "Change the values that `errors` points to.",
  },
  OUT_OF_STOCK: {
    means: "Fewer units are available than requested. Nothing was changed.",
    remedy: "`errors` points to each value that is too high. Request fewer units, or others.",
  },
  INVALID_STATE: {
    means: "The current state of the resource does not permit this change.",
    remedy: "Read the resource again to see its current state.",
  },
  IDEMPOTENCY_KEY_IN_FLIGHT: {
    means: "A request with the same `Idempotency-Key` is still in progress.",
    remedy: "Wait, then send the same request again: it gets the response of the first one.",
  },
  GONE: {
    means:
      "The resource was deleted, the response to an earlier request with the same `Idempotency-Key` was erased, or the API version is past its sunset date.",
    remedy:
      "Remove references to a deleted resource. Use a new key for a new request. For a version, use the successor that `Link` names.",
  },
  PRECONDITION_FAILED: {
    means: "The resource has changed since its ETag was read, or does not meet another condition of the request.",
    remedy: "Read the resource again, apply the change to its new state, and send it with the new ETag.",
  },
  PAYLOAD_TOO_LARGE: {
    means: "The body is longer than 65,536 bytes.",
    remedy: "Send a smaller body.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    means: "The body is of a media type, a charset or a content encoding that this operation does not support.",
    remedy:
      "Send UTF-8: `application/json` with `POST`, `application/merge-patch+json` with `PATCH`; no `Content-Encoding`.",
  },
  BAD_USER_INPUT: {
    means: "The body is well-formed but has invalid values. `errors` lists all of them.",
    remedy:
      "Each entry of `errors` has a JSON Pointer to the value and a description. Correct all of them before you send the request again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    means: "The `Idempotency-Key` was used in the last 24 hours for another request.",
    remedy: "Use a new key for each new request, and the same key only for retries.",
  },
  PRECONDITION_REQUIRED: {
    means: "A change must name the version that it is based on, so that concurrent changes are not lost.",
    remedy: "Read the resource, and send its `ETag` in `If-Match`.",
  },
  TOO_MANY_REQUESTS: {
    means: "The caller exceeded its rate limit.",
    remedy: "Wait for the seconds in `Retry-After`.",
  },
  HEADERS_TOO_LARGE: {
    means: "The request line and the headers together exceed 16 KiB.",
    remedy: "Send fewer or shorter headers, or a shorter query.",
  },
  INTERNAL_SERVER_ERROR: {
    means: "An internal error. The response contains no details.",
    remedy: "Report the `requestId` to the operators: the log contains the details under it.",
  },
  BAD_GATEWAY: {
    means: "The service behind this path does not respond.",
    remedy:
      "Try again after the seconds in `Retry-After`. A write whose response was lost can be repeated safely with an `Idempotency-Key`.",
  },
  SERVICE_UNAVAILABLE: {
    means: "Too many requests are in progress, or the service is starting or stopping.",
    remedy: "Try again after the seconds in `Retry-After`.",
  },
  GATEWAY_TIMEOUT: {
    means: "The service behind this path took too long. It is unknown whether a write was made.",
    remedy: "Repeat a read. Repeat a write only with an `Idempotency-Key`, or read its result first.",
  },
};
