/** `partial`: data and errors. `failed`: no data. `rejected`: before it ran. `aborted`: the client disconnected before the result was known. */
export type RequestOutcome = "ok" | "partial" | "failed" | "rejected" | "aborted";

/** How a response is counted and logged. */
export interface ResultSummary {
  readonly outcome: RequestOutcome;
  /** The codes of its `errors[]`, one for each entry. */
  readonly codes: readonly string[];
}
