import { AsyncLocalStorage } from "node:async_hooks";
import { readCallerContext } from "../../http/trace-context.ts";
import { errorTypeOf } from "./error-type.ts";
import { createSampling } from "./sampling.ts";
import { type Deliver, RecordingSpan } from "./span-record.ts";
import type { TracingConfig } from "../../process/telemetry-config.ts";
import type { Span, Trace } from "./trace.ts";

export interface TracingOptions {
  readonly tracing: Pick<TracingConfig, "sampler" | "ratio" | "callers">;
  readonly deliver: Deliver;
  readonly stop: () => Promise<void>;
}

/** An unreachable collector delays the end of the process by at most this. */
const stopMs = 2_000;

/** Patches no libraries and no global state. An unsampled request costs only the parsing of one header. */
export function createTracing({ tracing, deliver, stop }: TracingOptions): Trace {
  const isTraced = createSampling(tracing);
  const currentSpan = new AsyncLocalStorage<Span | undefined>();

  return {
    isOn: true,
    begin(name, traceParent, options) {
      const caller = readCallerContext(traceParent);
      if (!isTraced(caller)) return undefined;
      const parent = caller && { traceId: caller.traceId, spanId: caller.spanId, isRemote: true };
      return new RecordingSpan(name, parent, options, deliver);
    },
    current: () => currentSpan.getStore(),
    run: (span, work) => (span === undefined ? work() : currentSpan.run(span, work)),
    span(name, work, options) {
      const child = currentSpan.getStore()?.child(name, options);
      return child === undefined ? work(undefined) : currentSpan.run(child, () => runAndEnd(child, work));
    },
    stop: () => Promise.race([stop(), wait(stopMs)]),
  };
}

function runAndEnd<T>(span: Span, work: (span: Span) => T): T {
  try {
    const result = work(span);
    if (!(result instanceof Promise)) return endSpan(span, result);
    return result.then(
      (value: unknown) => endSpan(span, value),
      (error: unknown) => failSpan(span, error),
    ) as T;
  } catch (error) {
    return failSpan(span, error);
  }
}

function endSpan<T>(span: Span, value: T): T {
  span.end();
  return value;
}

function failSpan(span: Span, error: unknown): never {
  span.fail(errorTypeOf(error));
  span.end();
  throw error;
}

/** Does not keep the process alive. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
