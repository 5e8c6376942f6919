import type { EnvironmentReader } from "./env.ts";

export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** What a process shows of itself to those who run it. All of it is off unless its variable is set, but for the access log of failures. */
export interface TelemetryConfig {
  /** Undefined: no metrics, no listener. 0 takes any free port. */
  readonly adminPort: number | undefined;
  readonly adminHost: string;
  readonly accessLog: "all" | "sampled" | "off";
  readonly tracing: TracingConfig;
  readonly build: { readonly version: string; readonly revision: string };
}

export interface TracingConfig {
  /** Where OTLP is taken over HTTP, without `/v1/traces`. Undefined: no tracing. */
  readonly endpoint: string | undefined;
  readonly serviceName: string;
  readonly sampler: (typeof samplers)[number];
  /** Of the requests whose caller has not decided, 0 to 1. */
  readonly ratio: number;
}

/** @param name the process's, as its log lines say it. */
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

/** OpenTelemetry's own variables; the exporter reads further ones, such as OTEL_EXPORTER_OTLP_HEADERS, by itself. */
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
      why: "the share of requests that is traced, where the sampler asks for one",
    }),
  };
}
