// What the stages record of one client request. request-observer.ts reads it when the response is closed.
import type { ClientProgram } from "@tributary/kit/caller/client-program";
import type { DeprecatedElement } from "@tributary/kit/federation/deprecated-elements";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import type { Failure } from "@tributary/kit/telemetry/failure-log";
import type { Stage } from "../errors/codes.ts";
import type { TrustedDocument } from "../engine/parse/trusted-documents.ts";
import type { ValidatedOperation } from "../engine/parse/validated-operation.ts";
import type { RequestOutcome, ResultSummary } from "../result-summary.ts";

const success: ResultSummary = { outcome: "ok", codes: [] };

/** The access log lists no more failed fetches. */
const failuresMax = 5;

/** Exists only if metrics, traces or the access log are on. */
export class GraphqlRequestRecord {
  /** The path that processed the operation; undefined for other URLs, preflights and the GraphiQL page. */
  path: "fast" | "full" | undefined;
  /** The parameter `operationName`. Client text: only for the metrics of a rejected request, mapped to a known name. */
  requestedName: string | undefined;
  /** Undefined until the caller is identified. Its name is client text: map it by `KnownValues`. */
  client: ClientProgram | undefined;
  /** Undefined for a document that is not registered. */
  document: TrustedDocument | undefined;
  /**
   * Whether the document is registered; with `documents.own_only`, for this client. Undefined while `documents.mode` is off, and for a request without
   * a document.
   */
  isTrusted: boolean | undefined;
  validated: Pick<ValidatedOperation, "operation" | "identity"> | undefined;
  /** That the request uses. Undefined if the operation can use none, or the request is invalid. */
  deprecations: readonly DeprecatedElement[] | undefined;
  /** Undefined until the response is known, and for responses that Express sends (preflights, GraphiQL). */
  outcome: RequestOutcome | undefined;
  codes: readonly string[] = [];
  failures: Failure[] | undefined;
  /** Set even if the request is not traced. */
  traceId: string | undefined;
  /** Undefined if the request is not traced. */
  readonly span: Span | undefined;
  #stageSpan: Span | undefined;
  #stage: Stage | undefined;

  constructor(span: Span | undefined) {
    this.span = span;
  }

  /** Without an argument: a response without errors. */
  setResult({ outcome, codes } = success): void {
    this.outcome = outcome;
    this.codes = codes;
  }

  addFailure(failure: Failure): void {
    this.failures ??= [];
    if (this.failures.length < failuresMax) this.failures.push(failure);
  }

  /** Starts the span of a stage and ends the previous one. Does nothing if the request is not traced. */
  enter(stage: Stage): void {
    if (this.span === undefined || this.#stage === stage) return;
    this.leave();
    this.#stage = stage;
    this.#stageSpan = this.span.child(stage);
  }

  /** Undefined if the request is not traced. */
  get currentSpan(): Span | undefined {
    return this.#stageSpan ?? this.span;
  }

  leave(): void {
    this.#stageSpan?.end();
    this.#stageSpan = undefined;
  }
}
