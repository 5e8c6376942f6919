import type { ErrorCode } from "../errors/app-error.ts";

/** What a problem means, and what its reader can do: the text of its page and of the documents. */
export interface Explanation {
  /** A sentence. */
  readonly means: string;
  /** What to do about it; a sentence or two. */
  readonly remedy: string;
}

/** Every code of `statusOf`; a code without an explanation does not compile. */
export const explanations: Readonly<Record<ErrorCode, Explanation>> = {
  MALFORMED_REQUEST: {
    means: "The request cannot be read: its syntax, its path, its query, a header or its JSON is not as it has to be.",
    remedy:
      "Read `detail`, and `errors` where it is about query parameters; correct the request, and send it again. The same request gets the same answer.",
  },
  UNKNOWN_PARAMETER: {
    means: "The query has a parameter that this path does not know. `errors` names each of them.",
    remedy: "Leave the parameter out, or spell it as the document does.",
  },
  INVALID_CURSOR: {
    means: "The cursor is not one of ours, or was made for another list or for other filters.",
    remedy: "Begin again without `cursor`, and keep the filters the same from page to page.",
  },
  UNAUTHENTICATED: {
    means:
      "This needs a token and none came, or the one that came does not hold: it is expired, or not from an issuer that is trusted here.",
    remedy: "Send `Authorization: Bearer <token>` with a token that is valid.",
  },
  FORBIDDEN: {
    means: "Whoever the token stands for may not do this.",
    remedy: "Use a token with one of the scopes that the operation names, of somebody to whom the thing belongs.",
  },
  NOT_FOUND: {
    means: "There is nothing at this path, or nothing that this caller may see. The two are not told apart.",
    remedy: "Check the path and the id. Private things need their owner's token.",
  },
  METHOD_NOT_ALLOWED: {
    means: "The path is there, and does not take this method.",
    remedy: "Use one of the methods in `Allow`.",
  },
  NOT_ACCEPTABLE: {
    means: "No range of `Accept` admits what can be sent from this path. `choices` lists what can.",
    remedy: "Accept `application/json`, or one of the choices.",
  },
  REQUEST_TIMEOUT: {
    means: "The request did not come to its end in time.",
    remedy: "Send it again, faster.",
  },
  CONFLICT: {
    means: "It contradicts what is already there, such as a name that is taken.",
    remedy: "Read `errors`, and change what they point at.",
  },
  OUT_OF_STOCK: {
    means: "There is less of it than was asked for. Nothing was taken.",
    remedy: "Read `errors`: each points at what there is too little of. Ask for less, or for something else.",
  },
  INVALID_STATE: {
    means: "The thing is in a state from which this is not possible, for it has moved on.",
    remedy: "Read it again, and do what its state allows.",
  },
  IDEMPOTENCY_KEY_IN_FLIGHT: {
    means: "A request with the same `Idempotency-Key` is still under way.",
    remedy: "Wait a moment, and send the same request again: it gets the first one's answer.",
  },
  GONE: {
    means: "It was here and is no more: a thing that was deleted, or a version of the interface after its sunset.",
    remedy: "Forget the thing; for a version, use the one that `Link` names as its successor.",
  },
  PRECONDITION_FAILED: {
    means: "The thing has changed since the ETag of `If-Match` was read, or is not what a condition asks for.",
    remedy: "Read it again, look at what has changed, and send the change with the new ETag.",
  },
  PAYLOAD_TOO_LARGE: {
    means: "The body is longer than 65,536 bytes.",
    remedy: "Send less at once.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    means: "The body is of a media type, a charset or a content encoding that this operation does not take.",
    remedy:
      "Send UTF-8: `application/json` with `POST`, `application/merge-patch+json` with `PATCH`; no `Content-Encoding`.",
  },
  BAD_USER_INPUT: {
    means: "The body can be read, and has values that are not acceptable. `errors` lists every problem at once.",
    remedy:
      "Each entry of `errors` has a JSON Pointer to the place and says what is wrong. Correct all, and send it again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    means: "The `Idempotency-Key` was used in the last 24 hours for another request.",
    remedy: "Use a new key for each new request, and the same key only to send the same one again.",
  },
  PRECONDITION_REQUIRED: {
    means: "A change has to say what it was made from, so that nobody's work is lost.",
    remedy: "Read the thing, and send its `ETag` in `If-Match`.",
  },
  TOO_MANY_REQUESTS: {
    means: "More requests came than are answered for one caller.",
    remedy: "Wait as long as `Retry-After` says.",
  },
  HEADERS_TOO_LARGE: {
    means: "The request's line and headers are longer than 16 KiB together.",
    remedy: "Send fewer or shorter headers, or a shorter query.",
  },
  INTERNAL_SERVER_ERROR: {
    means: "Something went wrong on our side. Nothing more is said of it here.",
    remedy: "Tell us the `requestId`: our log has the rest under it.",
  },
  BAD_GATEWAY: {
    means: "The service behind this path does not answer.",
    remedy:
      "Try again after the seconds in `Retry-After`. A write whose answer got lost is safe to repeat with an `Idempotency-Key`.",
  },
  SERVICE_UNAVAILABLE: {
    means: "Too much is under way at once, or the service is starting or stopping.",
    remedy: "Try again after the seconds in `Retry-After`.",
  },
  GATEWAY_TIMEOUT: {
    means: "The service behind this path took too long. Whether a write was made is not known.",
    remedy: "Read again, or repeat a request that is safe to repeat.",
  },
};

/** The last part of a problem's type: `/problems/not-found`. */
export function slugOf(code: ErrorCode): string {
  return code.toLowerCase().replaceAll("_", "-");
}
