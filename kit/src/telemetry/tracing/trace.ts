/** The allowed attributes of spans: OpenTelemetry's semantic conventions, or `tributary.*`. A closed list keeps client data out of spans. */
export type AttributeName =
  | "http.request.method"
  | "http.route"
  /** The route template, as in `http.route`: a real path contains ids. */
  | "url.path"
  | "http.response.status_code"
  | "http.request.resend_count"
  | "error.type"
  | "server.address"
  | "server.port"
  | "db.system.name"
  | "db.namespace"
  | "db.query.summary"
  | "graphql.operation.name"
  | "graphql.operation.type"
  | "tributary.request_id"
  | "tributary.path"
  | "tributary.service"
  | "tributary.subgraph"
  | "tributary.version"
  | "tributary.client"
  | "tributary.cache"
  | "tributary.document_hash"
  | "tributary.shared"
  | "tributary.outcome"
  | "tributary.supergraph";

export type AttributeValue = string | number | boolean;

export interface SpanOptions {
  /** `server`: serves a request; `client`: waits for another process; `internal`, the default: neither. */
  readonly kind?: "server" | "client" | "internal";
  readonly attributes?: Readonly<Partial<Record<AttributeName, AttributeValue>>>;
}

/** Records work from its creation to `end`. Only sampled requests have spans: write `span?.child(…)`. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** The `traceparent` of requests that this span sends. */
  readonly traceParent: string;
  /** Starts a child span. @param name from a small set, without client data. */
  child(name: string, options?: SpanOptions): Span;
  rename(name: string): void;
  set(name: AttributeName, value: AttributeValue): void;
  /** Marks the span as failed. A later call replaces the type. @param type from a small set, such as a code; never an error's message. */
  fail(type: string): void;
  /** A second call has no effect. */
  end(): void;
}

/** Creates spans. Most requests are not sampled: `begin` returns undefined for them, and the other methods only run their `work`. */
export interface Trace {
  /** False: nothing is ever recorded. */
  readonly isOn: boolean;
  /**
   * Starts the first span of a request in this process. Undefined if the request is not sampled.
   * @param traceParent the header as sent; may be invalid.
   */
  begin(name: string, traceParent: string | readonly string[] | undefined, options?: SpanOptions): Span | undefined;
  /** The span in which the running code was started by `run` or `span`. */
  current(): Span | undefined;
  /** Runs `work` with `span` as the current one, also in its asynchronous calls. If `span` is undefined, the current one remains. */
  run<T>(span: Span | undefined, work: () => T): T;
  /**
   * Runs `work` in a child of the current span. The child ends when `work` returns, or when the promise of `work` settles. An error marks the child
   * as failed and is rethrown. Without a current span only runs `work`.
   */
  span<T>(name: string, work: (span: Span | undefined) => T, options?: SpanOptions): T;
  /** Sends the spans that have ended and stops. Waits at most 2 s. */
  stop(): Promise<void>;
}

/** Tracing that is off. */
export const noTrace: Trace = {
  isOn: false,
  begin: () => undefined,
  current: () => undefined,
  run: (_, work) => work(),
  span: (_, work) => work(undefined),
  stop: () => Promise.resolve(),
};
