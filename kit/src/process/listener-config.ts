import type { EnvironmentReader } from "./env.ts";
import type { MisspeltVariable } from "./misspelt-variables.ts";

export interface ListenerConfig {
  readonly port: number;
  readonly host: string;
  readonly logLevel: string;
  readonly drainDelayMs: number;
  readonly shutdownGraceMs: number;
  /** Empty until `readEnvironment` has returned. */
  readonly misspeltVariables: readonly MisspeltVariable[];
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export function readListenerConfig(
  env: EnvironmentReader,
  defaults: Pick<ListenerConfig, "port" | "shutdownGraceMs">,
): ListenerConfig {
  return {
    misspeltVariables: env.misspeltVariables,
    port: env.integer("PORT", {
      fallback: defaults.port,
      min: 0,
      max: 65_535,
      why: "the port to listen on; 0 takes any free one",
    }),
    host: env.string("HOST", { fallback: "127.0.0.1", why: "the address to listen on; 0.0.0.0 is every one" }),
    logLevel: env.choice("LOG_LEVEL", {
      fallback: "info",
      of: logLevels,
      why: "JSON lines on standard output from this level up",
    }),
    drainDelayMs: env.integer("DRAIN_DELAY_MS", {
      fallback: 0,
      min: 0,
      max: 60_000,
      why: "on SIGTERM: how long to serve requests after readiness is 503, so that load balancers notice",
    }),
    shutdownGraceMs: env.integer("SHUTDOWN_GRACE_MS", {
      fallback: defaults.shutdownGraceMs,
      min: 0,
      max: 60_000,
      why: "on SIGTERM: how long responses may take to requests that have arrived whole; a half-sent request has a second",
    }),
  };
}
