/** What a span may say of itself: OpenTelemetry's names where it has one, ours otherwise. No others, so that nobody puts in what a caller sent. */
export type AttributeName =
  | "http.request.method"
  | "http.route"
  /** The route template, as `http.route`: a path holds ids. */
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
  /** `server`: answers a request; `client`: waits for another process; `internal`, the default: neither. */
  readonly kind?: "server" | "client" | "internal";
  readonly attributes?: Readonly<Partial<Record<AttributeName, AttributeValue>>>;
}

/** A piece of work that is recorded, from its making to `end`. There are spans of sampled requests only: say `span?.child(…)`. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** The `traceparent` of a call that is made on behalf of this span. */
  readonly traceParent: string;
  /** A span below this one that begins now. @param name of our own words; few of them. */
  child(name: string, o?: SpanOptions): Span;
  /** Says it better than at the beginning. */
  rename(name: string): void;
  set(name: AttributeName, value: AttributeValue): void;
  /** Marks it as failed. @param type one word of a small set, such as a code; never an error's message. */
  fail(type: string): void;
  /** A second call does nothing. */
  end(): void;
}

/**
 * Where spans come from. Most requests are not sampled: `begin` gives undefined for them, and all else does nothing. When tracing is off
 * nothing is looked up or made at all.
 */
export interface Trace {
  /** False: nothing is ever recorded. */
  readonly isOn: boolean;
  /**
   * The first span of a request in this process, if the request is sampled.
   * @param traceParent the header as the caller sent it; whatever it holds.
   */
  begin(name: string, traceParent: string | readonly string[] | undefined, o?: SpanOptions): Span | undefined;
  /** The span in which the running code was started by `run` or `span`. */
  current(): Span | undefined;
  /** Runs `work`; for whatever it calls and awaits, `span` is the current one. */
  run<T>(span: Span | undefined, work: () => T): T;
  /** Runs `work` as a child of the current span, which ends with it: with its promise, when it gives one. What it throws marks it as failed. */
  span<T>(name: string, work: (span: Span | undefined) => T, o?: SpanOptions): T;
  /** Sends what is recorded and ends. Waits 2 s at the most. */
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
