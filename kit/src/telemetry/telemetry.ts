import { randomUUID } from "node:crypto";
import { createLog, type Log } from "../process/log.ts";
import type { MetricDeclarations } from "./metrics/declarations/metric-declaration.ts";
import type { processMetrics } from "./metrics/declarations/process-metrics.ts";
import { createNoMetrics, type Metrics } from "./metrics/metrics.ts";
import { createPrometheus } from "./metrics/prometheus.ts";
import { createSpanExport } from "./tracing/span-export.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import { noTrace, type Trace } from "./tracing/trace.ts";
import { createTracing } from "./tracing/tracing.ts";

/** The telemetry of a process. */
export interface Telemetry<D extends MetricDeclarations> {
  readonly log: Log;
  readonly metrics: Metrics<D>;
  readonly trace: Trace;
}

export interface TelemetryOptions<D extends MetricDeclarations> {
  /** The process's name, on every log line. */
  readonly name: string;
  /** From `metricsOf`, for this kind of process. */
  readonly declarations: D;
  /** Without `tracing` nothing is traced. */
  readonly config: Pick<TelemetryConfig, "adminPort" | "build"> &
    Partial<Pick<TelemetryConfig, "tracing">> & { readonly logLevel: string };
  /** The current supergraph, for `tributary_build_info`; called at each scrape. */
  readonly supergraph?: () => string | undefined;
  /** Fields of the current request, added to every log line. */
  readonly logContext?: () => object;
}

/**
 * Creates the telemetry of a process, once at its start. The libraries of metrics and traces are loaded only if these are on. Does not listen: see
 * `startMetricsListener`.
 */
export async function createTelemetry<D extends MetricDeclarations & typeof processMetrics>(
  o: TelemetryOptions<D>,
): Promise<Telemetry<D>> {
  const { adminPort, build, logLevel } = o.config;
  const metrics = adminPort === undefined ? createNoMetrics<D>() : await createPrometheus(o.declarations);
  // Every process has these metrics; TypeScript cannot infer it from D.
  const commonMetrics = metrics as unknown as Metrics<typeof processMetrics>;
  const lines = commonMetrics.counter("tributary_log_lines_total");
  const log = createLog({
    name: o.name,
    level: logLevel,
    version: build.version,
    ...(o.logContext && { context: o.logContext }),
    onTrouble: (level) => lines.add({ level }),
  });
  const instanceId = randomUUID();
  const trace = await createTrace(o.config, log, instanceId);
  commonMetrics.gauge("tributary_build_info").onScrape((gauge) => {
    gauge.set({ ...build, supergraph: o.supergraph?.() ?? "none", instance_id: instanceId }, 1);
  });
  return { log, metrics, trace };
}

async function createTrace(
  { tracing, build }: TelemetryOptions<never>["config"],
  log: Log,
  instanceId: string,
): Promise<Trace> {
  const { endpoint, sampler } = tracing ?? {};
  if (!tracing || endpoint === undefined || sampler === "always_off") return noTrace;
  const { deliver, stop } = await createSpanExport({
    endpoint,
    serviceName: tracing.serviceName,
    version: build.version,
    instanceId,
    onLost: (error) => log.warn({ err: error }, "traces are lost: the collector does not accept them"),
  });
  return createTracing({ tracing, deliver, stop });
}
