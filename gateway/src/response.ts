// An HTTP response to a client, before it is sent.
import type { ResultSummary } from "./result-summary.ts";

/** The media types of a GraphQL response. The first is used for a missing `Accept` and for any type (GraphQL over HTTP, "Accept"). */
export const responseTypes = ["application/json", "application/graphql-response+json"] as const;
export type ResponseType = (typeof responseTypes)[number];

export interface ClientResponse {
  readonly status: number;
  readonly contentType: string;
  /** Further headers, as a raw list. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
  /** Of a response that caches may store: the ETag without quotes and without the suffix for the content coding (paths/send-response.ts). */
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
 * The HTTP status of the response to a well-formed GraphQL request: `status`, but 200 instead of 400, 403 and 429 with `application/json`. The client then
 * reads the rejection in `errors[]` (GraphQL over HTTP, "Status Codes"). A bug remains 500. OVERLOADED, 200 or 503, has prepared responses
 * (paths/rejected-response.ts).
 */
export function statusFor(status: number, responseType: ResponseType): number {
  const isRejection = status === 400 || status === 403 || status === 429;
  return isRejection && responseType === "application/json" ? 200 : status;
}
