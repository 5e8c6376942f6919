import type { EnvironmentReader, Profile } from "../process/env.ts";
import { keyCharsMin, readKeys } from "../process/secret-keys.ts";

export interface ConsistencyConfig {
  /** The first encrypts receipts, all decrypt. */
  readonly consistencyKeys: readonly string[];
}

export function readConsistencyConfig(env: EnvironmentReader, profile: Profile): ConsistencyConfig {
  const why = `encrypt the receipts in Consistency-Token: the first encrypts, all decrypt; each at least ${keyCharsMin} characters, the same in every gateway and REST proxy; required in production`;
  return { consistencyKeys: readKeys(env, "CONSISTENCY_KEYS", profile, why) };
}
