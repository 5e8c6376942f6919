import { readTokenConfig, type TokenConfig } from "../identity/token-config.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";
import type { ClientKey } from "./client-program.ts";
import { createNetworks } from "./networks.ts";

export interface CallerConfig {
  /** Their `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. */
  readonly trustedProxies: readonly string[];
  /** Undefined: only the services verify tokens, and every caller here is anonymous. */
  readonly tokens: CallerTokenConfig | undefined;
  readonly clientKeys: readonly ClientKey[];
}

interface CallerTokenConfig extends TokenConfig {
  /** Such as `azp`. */
  readonly clientClaim?: string | undefined;
}

export function readCallerConfig(env: EnvironmentReader, profile: Profile): CallerConfig {
  const tokens = readTokenConfig(env, profile);
  const clientClaim = env.optional("CLIENT_CLAIM", {
    why: "the claim of verified tokens that holds the name of the client, such as azp; without it no token names a client",
  });
  return {
    trustedProxies: readTrustedProxies(env, profile),
    tokens: tokens === undefined ? undefined : { ...tokens, clientClaim },
    clientKeys: readClientKeys(env),
  };
}

/** Required in production; `none` trusts no proxy. */
function readTrustedProxies(env: EnvironmentReader, profile: Profile): readonly string[] {
  const why =
    "balancers in front of this process, as addresses and networks: their X-Forwarded-For and -Proto are trusted; none: clients connect directly";
  if (profile === "development") return readNetworks(env, "TRUSTED_PROXIES", { fallback: [], why });
  return readNetworks(env, "TRUSTED_PROXIES", { why });
}

/** `none` is the empty list, since an empty value means the default. */
export function readNetworks(
  env: EnvironmentReader,
  name: string,
  options: { readonly fallback?: readonly string[]; readonly why: string },
): readonly string[] {
  const texts = env.list(name, options);
  const isNone = texts.length === 1 && texts[0] === "none";
  const networks = isNone ? [] : texts;
  try {
    createNetworks(networks);
  } catch (error) {
    env.problem(`${name}: ${error instanceof Error ? error.message : "unreadable"}`);
  }
  return networks;
}

const clientKeysMax = 1_000;
const clientKeyPattern = /^([A-Za-z0-9._-]{1,64})=([0-9a-f]{64})$/;

/** The variable is no secret: the hash of a random key discloses nothing. */
function readClientKeys(env: EnvironmentReader): readonly ClientKey[] {
  const texts = env.list("CLIENT_KEYS", {
    fallback: [],
    why: "name=SHA-256 in hex of the key that the client sends as X-Client-Key, 1,000 at most; such a client has a verified name and, without a user's token, its separate limits",
  });
  if (texts.length > clientKeysMax) env.problem(`CLIENT_KEYS has at most ${clientKeysMax} entries`);
  const keys: ClientKey[] = [];
  for (const [index, text] of texts.entries()) {
    const [, name, sha256] = clientKeyPattern.exec(text) ?? [];
    if (name !== undefined && sha256 !== undefined) keys.push({ name, sha256 });
    else env.problem(`CLIENT_KEYS: entry ${index + 1} is not name=SHA-256, with 64 lower-case hex digits`);
  }
  return keys;
}
