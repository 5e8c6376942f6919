import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import type { Failure } from "@tributary/kit/telemetry/failure-log";
import type { AdmittedOperation } from "../parse/validated-operation.ts";

/** The stages of a request as a trace shows them; `pipeline.ts` says what they are. */
export type Stage = "admit" | "parse" | "plan" | "run" | "shape";

/** What has come of an operation: data; data and errors; errors alone; or nothing ran; or the client left before it was known. */
export type Outcome = "ok" | "partial" | "failed" | "refused" | "aborted";

/** What an answer says of itself, where that is not data alone. */
export interface Told {
  readonly outcome: Outcome;
  /** Of its `errors[]`. */
  readonly codes: readonly string[];
}

const allIsWell: Told = { outcome: "ok", codes: [] };

/** Failed fetches of one request that the access log names. */
const failuresMax = 5;

/** What is noted of a request for whoever watches; there are records only where somebody does. */
export class RequestRecord {
  /** Undefined for what is not asked of /graphql. */
  lane: "fast" | "full" | undefined;
  /** The request's parameter `operationName`, until an operation is admitted: unvalidated client text, so never a label, a span attribute or a log field. */
  requestedName: string | undefined;
  /** Undefined until an operation is admitted. */
  admitted: Pick<AdmittedOperation, "operation" | "identity"> | undefined;
  /** Undefined until it is known, and for what is not asked of /graphql. */
  outcome: Outcome | undefined;
  /** Of the answer's `errors[]`. */
  codes: readonly string[] = [];
  /** Fetches that failed, the first five: what its line in the access log gives as the reason. Undefined when none did. */
  failures: Failure[] | undefined;
  /** Of its caller's trace or one of our own, whether or not somebody records it. Undefined until it is introduced. */
  traceId: string | undefined;
  /** Undefined when the request is not traced. */
  readonly span: Span | undefined;
  #stage: Span | undefined;
  #stageName: Stage | undefined;

  constructor(span: Span | undefined) {
    this.span = span;
  }

  /** It is known what is answered. Without a word it is data alone. */
  tell({ outcome, codes } = allIsWell): void {
    this.outcome = outcome;
    this.codes = codes;
  }

  noteFailure(failure: Failure): void {
    this.failures ??= [];
    if (this.failures.length < failuresMax) this.failures.push(failure);
  }

  /** One stage after the other: the one before ends. */
  enter(stage: Stage): void {
    if (this.span === undefined || this.#stageName === stage) return;
    this.leave();
    this.#stageName = stage;
    this.#stage = this.span.child(stage);
  }

  /** The stage that is under way, for what belongs to it. */
  get stage(): Span | undefined {
    return this.#stage ?? this.span;
  }

  leave(): void {
    this.#stage?.end();
    this.#stage = undefined;
  }
}
