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
