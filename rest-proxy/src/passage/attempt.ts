import type { Readable } from "node:stream";
import type { Deadline } from "@tributary/kit/upstream/deadline";
import type { StreamedResult } from "@tributary/kit/upstream/streaming-pool";
import type { ReplicaConnection } from "./replica-connection.ts";

/** A request as a service gets it. */
export interface AttemptRequest {
  readonly method: string;
  /** Path and query, beginning with `/`. */
  readonly target: string;
  /** Names and values in turn, end-to-end only, the time that is left with them. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | undefined;
}

export type AttemptResult = StreamedResult;

/**
 * Sends a request once, to one replica. Resolves with the head of the answer, or with what went wrong until then.
 * @throws Error when the request itself cannot be sent: a bug.
 */
export type Attempt = (
  connection: ReplicaConnection,
  request: AttemptRequest,
  deadline: Deadline,
) => Promise<AttemptResult>;
