/** OpenTelemetry's semantic conventions, or `tributary.*`. A closed list keeps client data out of spans. */
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
  /** `client`: waits for another process; `internal`, the default: neither. */
  readonly kind?: "server" | "client" | "internal";
  readonly attributes?: Readonly<Partial<Record<AttributeName, AttributeValue>>>;
}

/** Only sampled requests have spans: write `span?.child(…)`. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceParent: string;
  /** @param name from a small set, without client data. */
  child(name: string, options?: SpanOptions): Span;
  rename(name: string): void;
  set(name: AttributeName, value: AttributeValue): void;
  /** A later call replaces the type. @param type from a small set, such as a code; never an error's message. */
  fail(type: string): void;
  /** A second call has no effect. */
  end(): void;
}

/** Most requests are not sampled: `begin` returns undefined for them, and the other methods only run their `work`. */
export interface Trace {
  /** False: nothing is ever recorded. */
  readonly isOn: boolean;
  /** Undefined if the request is not sampled. @param traceParent the header as sent; may be invalid. */
  begin(name: string, traceParent: string | readonly string[] | undefined, options?: SpanOptions): Span | undefined;
  current(): Span | undefined;
  /** Also in the asynchronous calls of `work`. If `span` is undefined, the current one remains. */
  run<T>(span: Span | undefined, work: () => T): T;
  /** In a child of the current span, which ends when `work` returns or its promise settles. Without a current span only runs `work`. */
  span<T>(name: string, work: (span: Span | undefined) => T, options?: SpanOptions): T;
  /** Sends the spans that have ended. Waits at most 2 s. */
  stop(): Promise<void>;
}

export const noTrace: Trace = {
  isOn: false,
  begin: () => undefined,
  current: () => undefined,
  run: (_, work) => work(),
  span: (_, work) => work(undefined),
  stop: () => Promise.resolve(),
};
