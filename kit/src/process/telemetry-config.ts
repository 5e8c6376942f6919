import type { EnvironmentReader } from "./env.ts";

export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** `clients` decide nothing about tracing by default; `internal` processes have decided it already. */
type TracedCallers = "clients" | "internal";

export interface TelemetryConfig {
  /** For /metrics and probes. 0 takes any free port. Undefined: no listener. */
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  /** `sampled`: traced requests, and the first of each kind that failed by a fault of the platform other than overload. */
  readonly accessLog: "all" | "sampled" | "off";
  readonly tracing: TracingConfig;
  readonly build: { readonly version: string; readonly revision: string };
}

export interface TracingConfig {
  /** OTLP/HTTP, without `/v1/traces`. Undefined: no tracing. */
  readonly endpoint: string | undefined;
  readonly serviceName: string;
  readonly sampler: (typeof samplers)[number];
  /** From 0 to 1. `parentbased_traceidratio` applies it only to requests without a valid `traceparent`, whose sampled flag decides otherwise. */
  readonly ratio: number;
  readonly callers: TracedCallers;
}

interface TelemetryDefaults {
  /** The default of OTEL_SERVICE_NAME. */
  readonly name: string;
  readonly callers: TracedCallers;
}

export function readTelemetryConfig(env: EnvironmentReader, defaults: TelemetryDefaults): TelemetryConfig {
  return {
    ...readMetricsConfig(env),
    accessLog: env.choice("ACCESS_LOG", {
      fallback: "sampled",
      of: ["all", "sampled", "off"],
      why: "which requests get a log line; sampled: those that are traced, and the first of equal failures of the platform, which are counted; not rejections because of overload",
    }),
    tracing: readTracingConfig(env, defaults),
  };
}

export function readMetricsConfig(env: EnvironmentReader): Pick<TelemetryConfig, "adminPort" | "adminHost" | "build"> {
  return {
    adminPort: env.optionalInteger("ADMIN_PORT", {
      min: 0,
      max: 65_535,
      why: "the port of /metrics and of /health for probes, for the internal network only; 0 takes any free one; without it there are no metrics",
    }),
    adminHost: env.string("ADMIN_HOST", {
      fallback: "127.0.0.1",
      why: "the address to listen on with ADMIN_PORT; 0.0.0.0 is every one",
    }),
    build: {
      version: env.string("BUILD_VERSION", {
        fallback: "development",
        why: "the version of this build; images set it, and the gateway and the REST proxy use that of their package by default",
      }),
      revision: env.string("BUILD_REVISION", {
        fallback: "unknown",
        why: "the source revision of this build; images set it",
      }),
    },
  };
}

/** OpenTelemetry's libraries read further standard variables in the export thread, such as OTEL_EXPORTER_OTLP_HEADERS: these are not checked. */
function readTracingConfig(env: EnvironmentReader, { name, callers }: TelemetryDefaults): TracingConfig {
  return {
    endpoint: env.optionalUrl("OTEL_EXPORTER_OTLP_ENDPOINT", {
      why: "where traces are sent, as OTLP over HTTP (usually port 4318); without it nothing is traced",
    }),
    serviceName: env.string("OTEL_SERVICE_NAME", { fallback: name, why: "the name of the process in traces" }),
    sampler: env.choice("OTEL_TRACES_SAMPLER", {
      fallback: callers === "clients" ? "traceidratio" : "parentbased_traceidratio",
      of: samplers,
      why:
        callers === "clients"
          ? "which requests are traced; parentbased: if the client sends a traceparent, its decision counts, so any client can have all its requests traced"
          : "which requests are traced; parentbased: if the caller sends a traceparent, its decision counts",
    }),
    ratio: env.number("OTEL_TRACES_SAMPLER_ARG", {
      fallback: 0.01,
      min: 0,
      max: 1,
      why: "the share of requests that is traced, for the traceidratio samplers; parentbased: among requests without a traceparent",
    }),
    callers,
  };
}
