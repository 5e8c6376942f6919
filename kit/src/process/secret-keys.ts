import type { EnvironmentReader, Profile } from "./env.ts";

export const keyCharsMin = 16;

/** Keys that several processes share. Several allow a change of the key. */
export function readKeys(env: EnvironmentReader, name: string, profile: Profile, why: string): readonly string[] {
  const developmentFallback = profile === "development" ? { fallback: ["for-development-only"] } : {};
  const keys = env.list(name, { ...developmentFallback, secret: true, why });
  if (keys.some((key) => key.length < keyCharsMin)) {
    env.problem(`${name}: each key has at least ${keyCharsMin} characters.`);
  }
  return keys;
}
