import { type AdmissionConfig, readAdmissionConfig } from "../admission/admission-config.ts";
import { type ServedFeedConfig, readServedFeedConfig } from "../feed/feed-config.ts";
import { readRequiredTokenConfig, type TokenConfig } from "../identity/token-config.ts";
import { type Environment, type Profile, readEnvironment } from "../process/env.ts";
import { keyCharsMin, readKeys } from "../process/secret-keys.ts";
import { type ListenerConfig, readListenerConfig } from "../process/listener-config.ts";
import { readTelemetryConfig, type TelemetryConfig } from "../process/telemetry-config.ts";

/** Times in milliseconds. */
export interface ServiceConfig extends ListenerConfig, AdmissionConfig, ServedFeedConfig, TelemetryConfig, TokenConfig {
  readonly profile: Profile;
  readonly databaseUrl: string;
  readonly connectionsMax: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly acquireTimeoutMs: number;
  readonly cursorKeys: readonly string[];
}

interface ServiceDefaults {
  readonly name?: string;
  readonly port: number;
}

/** @throws ConfigError with every problem at once. */
export function readServiceConfig(
  environment: Environment,
  { name = "service", port }: ServiceDefaults,
): ServiceConfig {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      fallback: "development",
      of: ["development", "production"],
      why: "production has no defaults for ISSUER, JWKS_URL, CURSOR_KEYS and FEED_KEYS, and rejects the local issuer",
    });
    const listener = readListenerConfig(env, { port, shutdownGraceMs: 10_000 });
    return {
      profile,
      ...listener,
      ...readAdmissionConfig(env),
      ...readTelemetryConfig(env, { name, callers: "internal" }),
      ...readServedFeedConfig(env, profile, listener),
      ...readRequiredTokenConfig(env, profile),
      databaseUrl: env.url("DATABASE_URL", {
        secret: true,
        why: "the database of this service only, with a role of this service only",
      }),
      connectionsMax: env.integer("DATABASE_CONNECTIONS_MAX", {
        fallback: 10,
        min: 1,
        max: 200,
        why: "connections of one replica; the database must allow this and one for the change feed, times the replicas",
      }),
      statementTimeoutMs: env.integer("STATEMENT_TIMEOUT_MS", {
        fallback: 5_000,
        min: 50,
        max: 60_000,
        why: "PostgreSQL cancels a statement after this time",
      }),
      lockTimeoutMs: env.integer("LOCK_TIMEOUT_MS", {
        fallback: 2_000,
        min: 10,
        max: 60_000,
        why: "PostgreSQL cancels a statement that waits longer for a lock",
      }),
      acquireTimeoutMs: env.integer("ACQUIRE_TIMEOUT_MS", {
        fallback: 2_000,
        min: 10,
        max: 60_000,
        why: "how long a request waits for a connection of the pool",
      }),
      cursorKeys: readKeys(
        env,
        "CURSOR_KEYS",
        profile,
        `sign the cursors: the first signs, all verify; each at least ${keyCharsMin} characters, the same on every replica`,
      ),
    };
  });
}
