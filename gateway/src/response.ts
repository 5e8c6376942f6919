// A response to a client before it is sent: status, media type, headers, body and how the request ended.

/** The media types of a GraphQL response. The first is used for a missing `Accept` and for any type (GraphQL over HTTP, "Accept"). */
export const responseTypes = ["application/json", "application/graphql-response+json"] as const;
export type ResponseType = (typeof responseTypes)[number];

/**
 * How an operation ended: with data and no errors; with data and errors; with errors and no data; rejected before it ran; or aborted, since
 * the client disconnected before the result was known.
 */
export type RequestOutcome = "ok" | "partial" | "failed" | "rejected" | "aborted";

/** How a response is counted and logged. */
export interface ResultSummary {
  readonly outcome: RequestOutcome;
  /** The codes of its `errors[]`, one for each entry. */
  readonly codes: readonly string[];
}

export interface ClientResponse {
  readonly status: number;
  readonly contentType: string;
  /** Further headers, as a raw list: name, value, name, value. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
  /** Of a response that caches may store: the ETag without quotes and without the suffix for the content coding (shape/send-response.ts). */
  readonly etag?: string | undefined;
  /** Undefined: a response without errors. */
  readonly summary?: ResultSummary | undefined;
}

const contentTypes: Readonly<Record<ResponseType, string>> = {
  "application/json": "application/json; charset=utf-8",
  "application/graphql-response+json": "application/graphql-response+json; charset=utf-8",
};

export function contentTypeOf(responseType: ResponseType): string {
  return contentTypes[responseType];
}

/**
 * The HTTP status of the response to a well-formed GraphQL request: `status`, but 200 instead of 400 and 429 with `application/json`. The client then
 * reads the rejection in `errors[]` (GraphQL over HTTP, "Status Codes"). A bug remains 500. OVERLOADED, 200 or 503, has prepared responses
 * (rejections.ts).
 */
export function statusFor(status: number, responseType: ResponseType): number {
  const isRejection = status === 400 || status === 429;
  return isRejection && responseType === "application/json" ? 200 : status;
}
