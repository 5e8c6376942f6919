import type { Readable } from "node:stream";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";

/** What the cache asks of the origin. Where it goes, and with which body, the way itself knows: it is made for one request. */
export interface OriginRequest {
  readonly method: string;
  /** Names and values in turn, end-to-end only: the caller's `Ways.headers`, with the conditions that the cache wants. */
  readonly headers: readonly string[];
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignalLike;
}

/** The final answer (never 1xx), of whatever status. */
export interface OriginResponse {
  readonly status: number;
  /** Names and values in turn, as they came, without what was for the origin's connection. */
  readonly headers: readonly string[];
  /** All of it. Or it comes at the reader's pace: the cache reads it to its end or destroys it; one that breaks off is destroyed with an error. */
  readonly body: Buffer | Readable;
}

/** Rejects when there is no answer. Retries are its own business; the cache asks once. */
export type OriginFetch = (request: OriginRequest) => Promise<OriginResponse>;
