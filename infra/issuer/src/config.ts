import { type Environment, readEnvironment } from "@tributary/kit/env";

export type Config = ReturnType<typeof readConfig>;

/**
 * The issuer's configuration; everything has a default, because it only ever runs beside its developer.
 * @throws ConfigError with every problem at once, and always with PROFILE=production.
 */
export function readConfig(environment: Environment) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "with production it does not start",
    });
    if (profile === "production") {
      env.problem("PROFILE=production: this issuer hands a token to anybody who asks. Use a real OpenID provider");
    }
    return {
      port: env.integer("PORT", {
        fallback: 4020,
        min: 0,
        max: 65_535,
        why: "where it listens; 0 takes any free port",
      }),
      host: env.string("HOST", {
        fallback: "127.0.0.1",
        why: "the address to listen on; 0.0.0.0 is every one",
      }),
      issuer: env.url("ISSUER", {
        fallback: "http://127.0.0.1:4020",
        why: "the tokens' iss, and the base of its addresses",
      }),
      audience: env.string("AUDIENCE", { fallback: "tributary", why: "the tokens' aud" }),
      keyFile: env.optional("KEY_FILE", {
        why: "keeps the signing key here (mode 0600), so that tokens outlive a restart; without it the key lives in memory",
      }),
      logLevel: env.choice("LOG_LEVEL", {
        of: ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
        fallback: "info",
        why: "JSON lines on standard output from this level up",
      }),
      drainDelayMs: env.integer("DRAIN_DELAY_MS", {
        fallback: 0,
        min: 0,
        max: 60_000,
        why: "on SIGTERM: how long to answer as usual after readiness said no",
      }),
      shutdownGraceMs: env.integer("SHUTDOWN_GRACE_MS", {
        fallback: 2_000,
        min: 0,
        max: 120_000,
        why: "on SIGTERM: how long requests under way may take",
      }),
    };
  });
}
