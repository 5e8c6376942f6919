// An HTTP response to a client, before it is sent.
import type { Statuses } from "./errors/statuses.ts";
import type { ResultSummary } from "./result-summary.ts";
import type { Settings } from "./settings.ts";

/** The media types of a GraphQL response. The first is used for a missing `Accept` and for any type (GraphQL over HTTP, "Accept"). */
export const responseTypes = ["application/json", "application/graphql-response+json"] as const;
export type ResponseType = (typeof responseTypes)[number];

export interface ClientResponse {
  readonly status: number;
  readonly contentType: string;
  /** Further headers, as a raw list. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
  /** Whether no other response may have the same buffer: its memory is released when it is sent. */
  readonly isOwn?: boolean;
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

export function chooseStatus(
  { json, graphql, draft }: Statuses,
  responseType: ResponseType,
  { usesDraftStatuses }: Pick<Settings, "usesDraftStatuses">,
): number {
  if (responseType === "application/json") return json;
  return usesDraftStatuses ? draft : graphql;
}
