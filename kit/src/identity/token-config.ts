// The environment variables that name the token issuer: one reader for the services, the gateway and the REST proxy.
import { isHttpUrl } from "../http/http-url.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";

export interface TokenConfig {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
  readonly userIdClaim: string;
}

const localIssuer = "http://127.0.0.1:4020";

/** For a service. In production the operator must configure an issuer; in development the default is the local one. */
export function readRequiredTokenConfig(env: EnvironmentReader, profile: Profile): TokenConfig {
  // A variable without a fallback is required.
  const issuerFallback = profile === "development" ? { fallback: localIssuer } : {};
  const jwksUrlFallback = profile === "development" ? { fallback: `${localIssuer}/.well-known/jwks.json` } : {};
  const config = {
    issuer: env.string("ISSUER", { ...issuerFallback, why: "the issuer that signs the tokens: their `iss`" }),
    audience: readAudience(env),
    jwksUrl: env.url("JWKS_URL", { ...jwksUrlFallback, why: "where the issuer's public keys are" }),
    userIdClaim: readUserIdClaim(env),
  };
  checkIssuer(env, profile, config);
  return config;
}

/**
 * For the gateway and the REST proxy, which verify tokens only if an issuer is configured.
 * @returns undefined without JWKS_URL.
 */
export function readTokenConfig(env: EnvironmentReader, profile: Profile): TokenConfig | undefined {
  const issuer = env.optional("ISSUER", {
    why: "the issuer that signs the tokens: their `iss`; required with JWKS_URL",
  });
  const audience = readAudience(env);
  const jwksUrl = env.optionalUrl("JWKS_URL", {
    why: "where the issuer's public keys are; without it only the services verify tokens",
  });
  const userIdClaim = readUserIdClaim(env);
  if (jwksUrl === undefined) return undefined;
  if (issuer === undefined) env.problem("ISSUER is required with JWKS_URL: the issuer that signs the tokens");
  // `""` is never used: after a problem, `readEnvironment` throws.
  const config = { issuer: issuer ?? "", audience, jwksUrl, userIdClaim };
  checkIssuer(env, profile, config);
  return config;
}

function readAudience(env: EnvironmentReader): string {
  return env.string("AUDIENCE", { fallback: "tributary", why: "the required audience of tokens: their `aud`" });
}

function readUserIdClaim(env: EnvironmentReader): string {
  return env.string("USER_ID_CLAIM", { fallback: "sub", why: "the claim that holds the user's id" });
}

/** Of the local one, every client gets tokens without authentication. */
function checkIssuer(env: EnvironmentReader, profile: Profile, config: TokenConfig): void {
  const { jwksUrl } = config;
  const { username, password } = URL.canParse(jwksUrl) ? new URL(jwksUrl) : { username: "", password: "" };
  if (jwksUrl !== "" && (!isHttpUrl(jwksUrl) || username !== "" || password !== ""))
    env.problem("JWKS_URL has to be an http(s) URL without user and password: it is fetched without credentials.");
  if (profile !== "production") return;
  const namesLocalIssuer = isLocalIssuer(config.issuer) || isLocalIssuer(config.jwksUrl);
  if (namesLocalIssuer) env.problem("ISSUER and JWKS_URL name the local issuer, which is for development only.");
}

/** A host named `issuer`, as in Docker Compose, or port 4020 of this machine. */
function isLocalIssuer(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, port } = new URL(address);
  const isThisMachine = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return hostname === "issuer" || (isThisMachine && port === "4020");
}
