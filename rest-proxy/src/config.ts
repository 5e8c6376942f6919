/** The configuration of the REST proxy, from environment variables. Each `why` is the text of the variable in README.md. */
import { readAdmissionConfig } from "@tributary/kit/admission/admission-config";
import { readCallerConfig } from "@tributary/kit/caller/caller-config";
import { readConsistencyConfig } from "@tributary/kit/consistency/consistency-config";
import { readFeedsConfig } from "@tributary/kit/feed/feed-config";
import { type Environment, type EnvironmentReader, readEnvironment } from "@tributary/kit/process/env";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { readTelemetryConfig } from "@tributary/kit/process/telemetry-config";
import { readRateLimitConfig } from "@tributary/kit/rate-limit/rate-limit-config";
import { readTagHeader } from "@tributary/kit/rest/cache-tags";
import { readRetirements, type Retirement } from "./route/retirement.ts";

type Profile = "development" | "production";

const localOrigins = ["http://localhost:*", "http://127.0.0.1:*"];

/** The addresses at which `npm start` runs the services of this repository. */
const developmentAddresses: Readonly<Record<string, string>> = {
  users: "http://127.0.0.1:4001",
  posts: "http://127.0.0.1:4002",
  comments: "http://127.0.0.1:4003",
  orders: "http://127.0.0.1:4004",
};

/** The file of the route table. Called before `readConfig`, since the table names the services whose addresses are required. */
export function readRoutesFile(environment: Environment): string {
  return readEnvironment(environment, routesFile);
}

/**
 * The proxy's configuration.
 * @param services the names of all services in the route table.
 * @param nowMs the time to which retirement dates such as `-30d` are relative, in milliseconds since 1970.
 * @throws ConfigError with every problem at once.
 */
export function readConfig(environment: Environment, services: readonly string[], nowMs: number = Date.now()) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "production has no default addresses and origins",
    });
    const addresses = Object.fromEntries(services.map((service) => [service, readAddresses(env, service, profile)]));
    return {
      profile,
      routesFile: routesFile(env),
      openApiFolder: env.string("OPENAPI_FOLDER", {
        fallback: "supergraph/openapi",
        why: "the documents that composition generated, relative to the working directory; without them /docs is empty",
      }),
      ...readListenerConfig(env, { port: 4010, shutdownGraceMs: 8_000 }),
      ...readAdmissionConfig(env),
      ...readTelemetryConfig(env, { name: "rest-proxy" }),
      addresses,
      ...readFeedsConfig(env, profile, addresses, (service) => `${variablePrefix(service)}_FEED_URL`),
      ...readConsistencyConfig(env, profile),
      tagHeader: readTagHeader(env),
      defaultVersion: env.integer("DEFAULT_VERSION", {
        fallback: 2,
        min: 1,
        max: 999,
        why: "the version of a path that names none; changing it breaks clients",
      }),
      retirements: readRetirementLists(env, profile, nowMs),
      knownClients: readKnownClients(env),
      corsOrigins: env.list("CORS_ORIGINS", {
        fallback: profile === "development" ? localOrigins : [],
        why: "origins whose pages may read responses; http://host:* is any port; production has none by default",
      }),
      callerConfig: readCallerConfig(env, profile),
      rateLimitConfig: readRateLimitConfig(env, profile),
      cacheLimits: readCacheLimits(env),
      ...readBounds(env),
    };
  });
}

function routesFile(env: EnvironmentReader): string {
  return env.string("ROUTES_FILE", {
    fallback: "supergraph/routes.json",
    why: "the route table that composition generated, relative to the working directory",
  });
}

/** The variables of `billing-core` are BILLING_CORE_URL and BILLING_CORE_FEED_URL. */
function variablePrefix(service: string): string {
  return service.toUpperCase().replaceAll("-", "_");
}

function readAddresses(env: EnvironmentReader, service: string, profile: Profile): readonly string[] {
  const name = `${variablePrefix(service)}_URL`;
  const fallback = profile === "development" ? developmentAddresses[service] : undefined;
  const texts = env.list(name, {
    ...(fallback === undefined ? {} : { fallback: [fallback] }),
    why: `the ${service} service: scheme, host and port of each replica; a host name stands for each of its addresses`,
  });
  const origins = texts.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(text)) return url.origin;
    env.problem(`${name} has to be http(s) addresses of scheme, host and port only, separated by commas`);
    return text;
  });
  return [...new Set(origins)];
}

/**
 * In development version 1 is deprecated by default, so that client developers see the headers of a deprecated version. Its default sunset is 180 days
 * after the start of the process, so it is not reached in practice.
 */
function readRetirementLists(env: EnvironmentReader, profile: Profile, nowMs: number): readonly Retirement[] {
  const deprecated = readListOrNone(env, "DEPRECATED_VERSIONS", {
    fallback: profile === "development" ? ["1=-30d"] : [],
    why: "versions and the date of their deprecation, such as 1=2027-01-31, or in days from the start, such as 1=-30d; none: no version; production has none by default",
  });
  const sunset = readListOrNone(env, "SUNSET_VERSIONS", {
    fallback: profile === "development" ? ["1=+180d"] : [],
    why: "versions and the date from which requests for them get 410, such as 1=2027-12-31, or in days from the start; none: no version; production has none by default",
  });
  return readRetirements({ deprecated, sunset }, nowMs, (problem) =>
    env.problem(`DEPRECATED_VERSIONS, SUNSET_VERSIONS: ${problem}`),
  );
}

/** Each name is a label value of metrics. */
const knownClientsMax = 100;

function readKnownClients(env: EnvironmentReader): readonly string[] {
  const names = env.list("KNOWN_CLIENTS", {
    fallback: [],
    why: "client names, 100 at most, that are counted separately; all others are counted as `other`",
  });
  if (names.length > knownClientsMax) env.problem(`KNOWN_CLIENTS has at most ${knownClientsMax} names`);
  return names;
}

/** Reads a list whose default may have entries: `none` is the empty list, since an empty value means the default. */
function readListOrNone(
  env: EnvironmentReader,
  name: string,
  o: { readonly fallback?: readonly string[]; readonly why: string },
): readonly string[] {
  const texts = env.list(name, o);
  return texts.length === 1 && texts[0] === "none" ? [] : texts;
}

function readCacheLimits(env: EnvironmentReader) {
  env.renamed("CACHE_ASIDE_MAX", "CACHE_BACKGROUND_MAX");
  const limits = {
    bytesMax: env.integer("CACHE_BYTES_MAX", {
      fallback: 67_108_864,
      min: 65_536,
      max: 17_179_869_184,
      why: "the size of the shared cache, with headers and keys; old entries without recent use are evicted first",
    }),
    entryBytesMax: env.integer("CACHE_ENTRY_BYTES_MAX", {
      fallback: 1_048_576,
      min: 1_024,
      max: 67_108_864,
      why: "a longer response is forwarded and not stored",
    }),
    entriesMax: env.integer("CACHE_ENTRIES_MAX", {
      fallback: 50_000,
      min: 1,
      max: 10_000_000,
      why: "responses stored at the same time, of any length",
    }),
    variantsMax: env.integer("CACHE_VARIANTS_MAX", {
      fallback: 16,
      min: 1,
      max: 1_000,
      why: "responses stored for one URL that differ by the request headers in Vary",
    }),
    backgroundMax: env.integer("CACHE_BACKGROUND_MAX", {
      fallback: 64,
      min: 1,
      max: 10_000,
      why: "background origin requests (shared misses and refreshes) in flight at once; beyond it each client's request is forwarded separately",
    }),
  };
  if (limits.entryBytesMax > limits.bytesMax) env.problem("CACHE_ENTRY_BYTES_MAX is more than CACHE_BYTES_MAX");
  return limits;
}

function readBounds(env: EnvironmentReader) {
  return {
    upstreamTimeoutMs: env.integer("UPSTREAM_TIMEOUT_MS", {
      fallback: 10_000,
      min: 10,
      max: 300_000,
      why: "the deadline of a service's whole response; then 504",
    }),
    responseTimeoutMs: env.integer("RESPONSE_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "a client has this long to read its response; then the connection is closed",
    }),
    headersTimeoutMs: env.integer("HEADERS_TIMEOUT_MS", {
      fallback: 10_000,
      min: 10,
      max: 300_000,
      why: "a client has this long to send its headers; then 408",
    }),
    requestTimeoutMs: env.integer("REQUEST_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "a client has this long to send its whole request; then 408",
    }),
    inFlightMax: env.integer("IN_FLIGHT_MAX", {
      fallback: 256,
      min: 1,
      max: 100_000,
      why: "requests in flight at once for each service; further ones are 503",
    }),
    bodiesInFlightMax: env.integer("BODIES_IN_FLIGHT_MAX", {
      fallback: 512,
      min: 1,
      max: 100_000,
      why: "request bodies being received at once; further ones are 503",
    }),
    bodyBytesMax: env.integer("BODY_BYTES_MAX", {
      fallback: 65_536,
      min: 1,
      max: 1_048_576,
      why: "a longer body is 413; bodies are buffered in memory until they are complete",
    }),
  };
}
