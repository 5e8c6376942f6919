import { type Environment, readEnvironment } from "@tributary/kit/process/env";
import { readListenerConfig } from "@tributary/kit/process/listener-config";

export type Config = ReturnType<typeof readConfig>;

/** Every value has a default, because the issuer only runs in development. @throws ConfigError, always with PROFILE=production. */
export function readConfig(environment: Environment) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "with production it does not start",
    });
    if (profile === "production") {
      env.problem(
        "PROFILE=production: this issuer issues tokens to any client without authentication. Use a real OpenID provider",
      );
    }
    return {
      ...readListenerConfig(env, { port: 4020, shutdownGraceMs: 2_000 }),
      issuer: env.url("ISSUER", {
        fallback: "http://127.0.0.1:4020",
        why: "the tokens' iss, and the base of its addresses",
      }),
      audience: env.string("AUDIENCE", { fallback: "tributary", why: "the tokens' aud" }),
      keyFile: env.optional("KEY_FILE", {
        why: "keeps the signing key here (mode 0600), so that tokens outlive a restart; without it the key lives in memory",
      }),
    };
  });
}
