import type { EnvironmentReader, Profile } from "../process/env.ts";

export interface ConsistencyConfig {
  /** The first encrypts receipts, all decrypt. */
  readonly consistencyKeys: readonly string[];
}

const keyCharsMin = 16;

export function readConsistencyConfig(env: EnvironmentReader, profile: Profile): ConsistencyConfig {
  const developmentFallback = profile === "development" ? { fallback: ["for-development-only"] } : {};
  const keys = env.list("CONSISTENCY_KEYS", {
    ...developmentFallback,
    secret: true,
    why: `encrypt the receipts in Consistency-Token: the first encrypts, all decrypt; each at least ${keyCharsMin} characters, the same in every gateway and REST proxy; required in production`,
  });
  if (keys.some((key) => key.length < keyCharsMin)) {
    env.problem(`CONSISTENCY_KEYS: each key has at least ${keyCharsMin} characters.`);
  }
  return { consistencyKeys: keys };
}
