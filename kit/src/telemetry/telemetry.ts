import { randomUUID } from "node:crypto";
import { createLog, type Log } from "../process/log.ts";
import type { MetricDeclarations, processMetrics } from "./metrics/metric-declarations.ts";
import { createNoMetrics, type Metrics } from "./metrics/metrics.ts";
import { createPrometheus } from "./metrics/prometheus.ts";
import { createSpanExport } from "./tracing/span-export.ts";
import type { TelemetryConfig } from "../process/telemetry-config.ts";
import { noTrace, type Trace } from "./tracing/trace.ts";
import { createTracing } from "./tracing/tracing.ts";

/** What a process shows of itself. */
export interface Telemetry<D extends MetricDeclarations> {
  readonly log: Log;
  readonly metrics: Metrics<D>;
  readonly trace: Trace;
}

export interface TelemetryOptions<D extends MetricDeclarations> {
  /** The process's, on every log line. */
  readonly name: string;
  /** Those of `metricsOf` for this kind of process. */
  readonly declarations: D;
  readonly config: Pick<TelemetryConfig, "adminPort" | "tracing" | "build"> & { readonly logLevel: string };
  /** The supergraph that is served now, for `tributary_build_info`; asked at each scrape. */
  readonly supergraph?: () => string | undefined;
  /** Fields of the request under way, for log lines that do not bear them by themselves. */
  readonly logContext?: () => object;
}

/** What the configuration asks for, and nothing of the rest: no library is loaded for what is off. */
export async function createTelemetry<D extends MetricDeclarations & typeof processMetrics>(
  o: TelemetryOptions<D>,
): Promise<Telemetry<D>> {
  const { adminPort, build, logLevel } = o.config;
  const metrics = adminPort === undefined ? createNoMetrics<D>() : await createPrometheus(o.declarations);
  // Every process has these; TypeScript does not see it through D.
  const ofProcess = metrics as unknown as Metrics<typeof processMetrics>;
  const lines = ofProcess.counter("tributary_log_lines_total");
  const log = createLog({
    name: o.name,
    level: logLevel,
    version: build.version,
    ...(o.logContext && { context: o.logContext }),
    onTrouble: (level) => lines.add({ level }),
  });
  const instanceId = randomUUID();
  const trace = await createTrace(o.config, log, instanceId);
  ofProcess.gauge("tributary_build_info").onScrape((gauge) => {
    gauge.set({ ...build, supergraph: o.supergraph?.() ?? "none", instance_id: instanceId }, 1);
  });
  return { log, metrics, trace };
}

async function createTrace(
  { tracing, build }: TelemetryOptions<never>["config"],
  log: Log,
  instanceId: string,
): Promise<Trace> {
  const { endpoint, sampler } = tracing;
  if (endpoint === undefined || sampler === "always_off") return noTrace;
  const { deliver, stop } = await createSpanExport({
    endpoint,
    serviceName: tracing.serviceName,
    version: build.version,
    instanceId,
    onLost: (error) => log.warn({ err: error }, "the collector takes no traces: they are lost until it does"),
  });
  return createTracing({ tracing, deliver, stop });
}
