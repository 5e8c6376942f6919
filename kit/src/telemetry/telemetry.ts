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

export interface Telemetry<D extends MetricDeclarations> {
  readonly log: Log;
  readonly metrics: Metrics<D>;
  readonly trace: Trace;
}

interface TelemetryProcessConfig extends Pick<TelemetryConfig, "adminPort" | "build"> {
  readonly logLevel: string;
  /** Without it nothing is traced. */
  readonly tracing?: TelemetryConfig["tracing"];
}

export interface TelemetryOptions<D extends MetricDeclarations> {
  readonly name: string;
  readonly declarations: D;
  readonly config: TelemetryProcessConfig;
  /** For `tributary_build_info`; called at each scrape. */
  readonly supergraph?: () => string | undefined;
  /** Of the current request, for every log line. */
  readonly logContext?: () => object;
}

/** The libraries of metrics and traces are loaded only if these are on. Does not listen: see `startMetricsListener`. */
export async function createTelemetry<D extends MetricDeclarations & typeof processMetrics>({
  name,
  declarations,
  config,
  supergraph,
  logContext,
}: TelemetryOptions<D>): Promise<Telemetry<D>> {
  const { adminPort, build, logLevel } = config;
  const metrics = adminPort === undefined ? createNoMetrics<D>() : await createPrometheus(declarations);
  // Every process has these metrics; TypeScript cannot infer it from D.
  const commonMetrics = metrics as unknown as Metrics<typeof processMetrics>;
  const logLines = commonMetrics.counter("tributary_log_lines_total");
  const log = createLog({
    name,
    level: logLevel,
    version: build.version,
    context: logContext ?? (() => ({})),
    onTrouble: (level) => logLines.add({ level }),
  });
  const instanceId = randomUUID();
  const trace = await createTrace(config, log, instanceId);
  commonMetrics.gauge("tributary_build_info").onScrape((gauge) => {
    gauge.set({ ...build, supergraph: supergraph?.() ?? "none", instance_id: instanceId }, 1);
  });
  return { log, metrics, trace };
}

async function createTrace({ tracing, build }: TelemetryProcessConfig, log: Log, instanceId: string): Promise<Trace> {
  if (tracing === undefined) return noTrace;
  const { endpoint, sampler } = tracing;
  if (endpoint === undefined || sampler === "always_off") return noTrace;
  const { deliver, stop } = await createSpanExport({
    endpoint,
    serviceName: tracing.serviceName,
    version: build.version,
    instanceId,
    onLost: (error) => log.warn({ err: error }, "traces are lost: the collector does not accept them"),
  });
  return createTracing({ tracing, deliver, stop });
}
