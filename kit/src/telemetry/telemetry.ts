import type { Log } from "../log.ts";
import type { MetricDeclarations } from "./metric-declarations.ts";
import { createNoMetrics, type Metrics } from "./metrics.ts";
import { createOpenTelemetry } from "./open-telemetry.ts";
import { createPrometheus } from "./prometheus.ts";
import { createSpanExport } from "./span-export.ts";
import type { TelemetryConfig } from "./telemetry-config.ts";
import { noTrace, type Trace } from "./trace.ts";

/** What a process counts and traces with. */
export interface Telemetry<D extends MetricDeclarations> {
  readonly metrics: Metrics<D>;
  readonly trace: Trace;
}

type Config = Pick<TelemetryConfig, "adminPort" | "tracing" | "build">;

/** What the configuration asks for, and nothing of the rest: neither library is loaded before. */
export async function createTelemetry<D extends MetricDeclarations>(
  declarations: D,
  config: Config,
  log: Log,
): Promise<Telemetry<D>> {
  const [metrics, trace] = await Promise.all([
    config.adminPort === undefined ? createNoMetrics<D>() : createPrometheus(declarations),
    createTrace(config, log),
  ]);
  return { metrics, trace };
}

async function createTrace({ tracing, build }: Config, log: Log): Promise<Trace> {
  const { endpoint, sampler } = tracing;
  if (endpoint === undefined || sampler === "always_off") return noTrace;
  const processor = await createSpanExport({
    endpoint,
    onLost: (error) => log.warn({ err: error }, "the collector takes no traces: they are lost until it does"),
  });
  return createOpenTelemetry({ tracing, build, processor });
}

/** For a process, or a test, of which nothing is to be seen. */
export function createNoTelemetry<D extends MetricDeclarations>(): Telemetry<D> {
  return { metrics: createNoMetrics<D>(), trace: noTrace };
}
