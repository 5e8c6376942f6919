import { readNetworks } from "../caller/caller-config.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";

export interface RateLimitConfig {
  /** 0: no limit. */
  readonly readsPerMinute: number;
  /** 0: no limit. */
  readonly writesPerMinute: number;
  readonly callersMax: number;
  readonly exempt: readonly string[];
  /** Undefined: a caller has the whole limit in each process. */
  readonly storeUrl: string | undefined;
  readonly storePassword: string | undefined;
  /** During an outage of the store, each process has at most `1 / processesMin` of a limit. */
  readonly processesMin: number;
}

export function readRateLimitConfig(env: EnvironmentReader, profile: Profile): RateLimitConfig {
  return {
    readsPerMinute: env.integer("RATE_LIMIT_READS_PER_MINUTE", {
      fallback: 6_000,
      min: 0,
      max: 100_000_000,
      why: "units that one caller may use for GET, HEAD and GraphQL queries; a REST request is 1, an operation as many as its plan has fetches, and a large body or result 1 for each further millisecond of CPU time; further requests are rejected; 0: no limit",
    }),
    writesPerMinute: env.integer("RATE_LIMIT_WRITES_PER_MINUTE", {
      fallback: 600,
      min: 0,
      max: 100_000_000,
      why: "the same for all other methods and GraphQL mutations; the gateway limits all requests of a caller, with the CPU time of their documents, to the sum of both numbers, unless one of them is 0",
    }),
    callersMax: env.integer("RATE_LIMIT_CALLERS_MAX", {
      fallback: 100_000,
      min: 1,
      max: 10_000_000,
      why: "callers counted at the same time; beyond it, callers without recent requests are dropped early",
    }),
    exempt: readNetworks(env, "RATE_LIMIT_EXEMPT", {
      fallback: profile === "development" ? ["127.0.0.0/8", "::1"] : [],
      why: "addresses and networks whose requests and connections are not counted; none: all are; production counts all by default",
    }),
    storeUrl: readStoreUrl(env),
    storePassword: env.optional("RATE_LIMIT_STORE_PASSWORD", {
      secret: true,
      why: "the password of that server; its user is in the URL, or the default one",
    }),
    processesMin: env.integer("RATE_LIMIT_PROCESSES_MIN", {
      fallback: 2,
      min: 1,
      max: 10_000,
      why: "gateways and REST proxies that share the limits, at least; the store counts those that run, and during its outage each process has its share",
    }),
  };
}

const storeProtocols = ["redis:", "rediss:", "valkey:", "valkeys:"];

function readStoreUrl(env: EnvironmentReader): string | undefined {
  const url = env.optional("RATE_LIMIT_STORE_URL", {
    why: "redis: or valkey: URL (with TLS rediss: or valkeys:) of the server by which processes share the limits, and gateways automatic persisted queries; without it each process counts separately",
  });
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !storeProtocols.includes(parsed.protocol))
    env.problem(`RATE_LIMIT_STORE_URL is not a URL with one of ${storeProtocols.join(", ")}`);
  else if (parsed.password !== "")
    env.problem("RATE_LIMIT_STORE_URL has a password: set RATE_LIMIT_STORE_PASSWORD instead");
  return url;
}
