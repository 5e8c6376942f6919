import { randomDigits } from "../../http/trace-context.ts";
import type { AttributeName, AttributeValue, Span, SpanOptions } from "./trace.ts";

/** A span as plain values, which can be given to another thread. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: SpanParent | undefined;
  readonly name: string;
  readonly kind: NonNullable<SpanOptions["kind"]>;
  /** Since the epoch, in milliseconds and parts of one. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly hasFailed: boolean;
}

export interface SpanParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Of another process. */
  readonly isRemote: boolean;
}

/** Takes what is recorded, as it ends. */
export type Deliver = (record: SpanRecord) => void;

/**
 * Of our own, and no more than this: it runs in a hundredth of the requests and is never warm, so that each line of it costs many times what it
 * would elsewhere. What becomes of it is OpenTelemetry's again, in the thread that sends it.
 */
export class RecordedSpan implements Span {
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

  constructor(name: string, parent: SpanParent | undefined, o: SpanOptions | undefined, deliver: Deliver) {
    this.traceId = parent?.traceId ?? randomDigits(32);
    this.#parent = parent;
    this.#name = name;
    this.#kind = o?.kind ?? "internal";
    this.#attributes = { ...o?.attributes };
    this.#deliver = deliver;
  }

  get traceParent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  child(name: string, o?: SpanOptions): Span {
    const { traceId, spanId } = this;
    return new RecordedSpan(name, { traceId, spanId, isRemote: false }, o, this.#deliver);
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

/** Never goes back, whatever is done to the machine's clock; parts of a microsecond are lost. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
