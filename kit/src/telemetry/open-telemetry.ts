import { AsyncLocalStorage } from "node:async_hooks";
import type * as Api from "@opentelemetry/api";
import type { SpanProcessor } from "@opentelemetry/sdk-trace";
import { readCallerContext, type CallerContext } from "../trace-context.ts";
import { errorTypeOf } from "./error-type.ts";
import { createSampling } from "./sampling.ts";
import type { TelemetryConfig, TracingConfig } from "./telemetry-config.ts";
import type { Span, SpanOptions, Trace } from "./trace.ts";

export interface OpenTelemetryOptions {
  readonly tracing: Pick<TracingConfig, "serviceName" | "sampler" | "ratio">;
  readonly build: TelemetryConfig["build"];
  /** Takes the spans as they end. */
  readonly processor: SpanProcessor;
}

/** Of the time that a process has to end: a collector that is gone does not hold it up. */
const stopMs = 2_000;

/**
 * Traces by OpenTelemetry's SDK, which is loaded here and not before. Nothing is patched and nothing global is set: whoever has work to show
 * makes a span of it. Sampling is ours, ahead of the SDK, so that a request that is not traced costs one look at a header.
 */
export async function createOpenTelemetry({ tracing, build, processor }: OpenTelemetryOptions): Promise<Trace> {
  const [api, sdk, resources] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
  ]);
  const provider = new sdk.TracerProvider({
    // OTEL_RESOURCE_ATTRIBUTES has the last word: it knows the pod.
    resource: resources
      .defaultResource()
      .merge(
        resources.resourceFromAttributes({ "service.name": tracing.serviceName, "service.version": build.version }),
      )
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [processor],
  });
  const maker = createSpanMaker(api, provider.getTracer("tributary", build.version));
  const isTraced = createSampling(tracing);
  const scopes = new AsyncLocalStorage<Span | undefined>();

  return {
    isOn: true,
    begin(name, traceParent, o) {
      const caller = readCallerContext(traceParent);
      return isTraced(caller) ? maker.begin(name, caller, o) : undefined;
    },
    current: () => scopes.getStore(),
    run: (span, work) => (span === undefined ? work() : scopes.run(span, work)),
    span(name, work, o) {
      const child = scopes.getStore()?.child(name, o);
      return child === undefined ? work(undefined) : scopes.run(child, () => endWith(child, work));
    },
    stop: () => Promise.race([provider.shutdown(), wait(stopMs)]),
  };
}

function createSpanMaker(api: typeof Api, tracer: Api.Tracer) {
  const kinds = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };

  function start(name: string, context: Api.Context, { kind = "internal", attributes = {} }: SpanOptions = {}): Span {
    return toSpan(tracer.startSpan(name, { kind: kinds[kind], attributes }, context));
  }

  function toSpan(span: Api.Span): Span {
    const { traceId, spanId } = span.spanContext();
    return {
      traceId,
      spanId,
      traceParent: `00-${traceId}-${spanId}-01`,
      child: (name, o) => start(name, api.trace.setSpan(api.ROOT_CONTEXT, span), o),
      rename: (name) => void span.updateName(name),
      set: (name, value) => void span.setAttribute(name, value),
      fail: (type) => void span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttribute("error.type", type),
      end() {
        if (span.isRecording()) span.end();
      },
    };
  }

  return {
    begin(name: string, caller: CallerContext | undefined, o: SpanOptions | undefined): Span {
      if (caller === undefined) return start(name, api.ROOT_CONTEXT, o);
      const { traceId, spanId } = caller;
      const parent = { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
      return start(name, api.trace.setSpanContext(api.ROOT_CONTEXT, parent), o);
    },
  };
}

function endWith<T>(span: Span, work: (span: Span) => T): T {
  try {
    const result = work(span);
    if (!(result instanceof Promise)) return ended(span, result);
    return result.then(
      (value: unknown) => ended(span, value),
      (error: unknown) => failed(span, error),
    ) as T;
  } catch (error) {
    return failed(span, error);
  }
}

function ended<T>(span: Span, value: T): T {
  span.end();
  return value;
}

function failed(span: Span, error: unknown): never {
  span.fail(errorTypeOf(error));
  span.end();
  throw error;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
