import { randomDigits } from "../../http/trace-context.ts";
import type { AttributeName, AttributeValue, Span, SpanOptions } from "./trace.ts";

/** Plain data, which can be sent to another thread. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: SpanParent | undefined;
  readonly name: string;
  readonly kind: NonNullable<SpanOptions["kind"]>;
  /** In milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly hasFailed: boolean;
}

export interface SpanParent {
  readonly traceId: string;
  readonly spanId: string;
  /** The parent is a span of another process. */
  readonly isRemote: boolean;
}

export type Deliver = (record: SpanRecord) => void;

/** Instead of OpenTelemetry's: few requests are traced (1 % by default), so V8 may never optimize this code. */
export class RecordingSpan implements Span {
  readonly traceId: string;
  readonly spanId: string = randomDigits(16);
  readonly #parent: SpanParent | undefined;
  readonly #kind: SpanRecord["kind"];
  readonly #startMs = nowMs();
  readonly #attributes: Record<string, AttributeValue>;
  readonly #deliver: Deliver;
  #name: string;
  #hasFailed = false;
  #hasEnded = false;

  constructor(name: string, parent: SpanParent | undefined, options: SpanOptions | undefined, deliver: Deliver) {
    this.traceId = parent?.traceId ?? randomDigits(32);
    this.#parent = parent;
    this.#name = name;
    this.#kind = options?.kind ?? "internal";
    this.#attributes = { ...options?.attributes };
    this.#deliver = deliver;
  }

  get traceParent(): string {
    // 01: the trace is sampled.
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  child(name: string, options?: SpanOptions): Span {
    const { traceId, spanId } = this;
    return new RecordingSpan(name, { traceId, spanId, isRemote: false }, options, this.#deliver);
  }

  rename(name: string): void {
    this.#name = name;
  }

  set(name: AttributeName, value: AttributeValue): void {
    this.#attributes[name] = value;
  }

  fail(type: string): void {
    this.#hasFailed = true;
    this.set("error.type", type);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver({
      traceId: this.traceId,
      spanId: this.spanId,
      parent: this.#parent,
      name: this.#name,
      kind: this.#kind,
      startMs: this.#startMs,
      endMs: nowMs(),
      attributes: { ...this.#attributes },
      hasFailed: this.#hasFailed,
    });
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
