// The HTTP status of every response to a GraphQL request. codes.ts says which row a code has; response.ts chooses the column.

export interface Statuses {
  /** For clients that accept only `application/json`: 200 tells them that the response is of a GraphQL server, and no proxy's. */
  readonly json: number;
  /** For clients that accept `application/graphql-response+json`. */
  readonly graphql: number;
  /** For the same clients with the setting `http.draft: 2026-08`. */
  readonly draft: number;
}

/** By GraphQL over HTTP, "Status Codes": `json` and `graphql` by the draft of 2025, `draft` by that of August 2026. */
export const statuses = {
  result: sameFor(200),
  /** Executed: `data`, which may be null, and `errors`. */
  resultWithErrors: { json: 200, graphql: 200, draft: 294 },
  /** Well-formed JSON, but no GraphQL request. */
  notGraphql: { json: 400, graphql: 400, draft: 422 },
  syntaxError: { json: 200, graphql: 400, draft: 400 },
  /** Validation and limits of the document, choice of the operation, coercion of variables, cost of the plan. */
  invalid: { json: 200, graphql: 400, draft: 422 },
  /** A persisted query without a text. Clients of before the draft expect 200. */
  unknownHash: { json: 200, graphql: 200, draft: 422 },
  blocked: { json: 200, graphql: 403, draft: 403 },
  rateLimited: { json: 200, graphql: 429, draft: 429 },
  /** Before a body is read. */
  rateLimitedUnread: sameFor(429),
  overloaded: { json: 200, graphql: 503, draft: 503 },
} as const satisfies Record<string, Statuses>;

/** Not well-formed HTTP or JSON, not authenticated, not served now, or a bug: no media type makes it a GraphQL response. */
export function sameFor(status: number): Statuses {
  return { json: status, graphql: status, draft: status };
}
