import type { EnvironmentReader } from "./env.ts";

export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** The telemetry of a process. Each part is off unless its variable is set, except the access log of failed requests. */
export interface TelemetryConfig {
  /** Undefined: no metrics, no listener. 0 takes any free port. */
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  readonly accessLog: "all" | "sampled" | "off";
  readonly tracing: TracingConfig;
  readonly build: { readonly version: string; readonly revision: string };
}

export interface TracingConfig {
  /** The OTLP/HTTP endpoint, without `/v1/traces`. Undefined: no tracing. */
  readonly endpoint: string | undefined;
  readonly serviceName: string;
  readonly sampler: (typeof samplers)[number];
  /** The share of traced requests, 0 to 1, among those whose caller has no trace. */
  readonly ratio: number;
}

/** @param name of the process, as in its log lines. */
export function readTelemetryConfig(env: EnvironmentReader, { name }: { readonly name: string }): TelemetryConfig {
  return {
    adminPort: env.optionalInteger("ADMIN_PORT", {
      min: 0,
      max: 65_535,
      why: "where /metrics is, for the inside only; without it nothing is counted",
    }),
    adminHost: env.string("ADMIN_HOST", {
      fallback: "127.0.0.1",
      why: "the address to listen on with ADMIN_PORT; 0.0.0.0 is every one",
    }),
    accessLog: env.choice("ACCESS_LOG", {
      fallback: "sampled",
      of: ["all", "sampled", "off"],
      why: "a log line for each request; sampled: for traced ones and for those that failed by our fault",
    }),
    tracing: readTracingConfig(env, name),
    build: {
      version: env.string("BUILD_VERSION", { fallback: "development", why: "what runs here; images set it" }),
      revision: env.string("BUILD_REVISION", {
        fallback: "unknown",
        why: "the source it was built from; images set it",
      }),
    },
  };
}

/** OpenTelemetry's standard variables. The exporter also reads others, such as OTEL_EXPORTER_OTLP_HEADERS. */
function readTracingConfig(env: EnvironmentReader, name: string): TracingConfig {
  return {
    endpoint: env.optionalUrl("OTEL_EXPORTER_OTLP_ENDPOINT", {
      why: "where traces go, as OTLP over HTTP (port 4318 as a rule); without it nothing is traced",
    }),
    serviceName: env.string("OTEL_SERVICE_NAME", { fallback: name, why: "what the process is called in traces" }),
    sampler: env.choice("OTEL_TRACES_SAMPLER", {
      fallback: "parentbased_traceidratio",
      of: samplers,
      why: "which requests are traced; parentbased: those whose caller traces them",
    }),
    ratio: env.number("OTEL_TRACES_SAMPLER_ARG", {
      fallback: 0.01,
      min: 0,
      max: 1,
      why: "the share of requests that is traced, for the …traceidratio samplers",
    }),
  };
}
