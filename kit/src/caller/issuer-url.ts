import { isHttpUrl } from "../http/http-url.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";

/** The local token issuer, from which pages get the tokens of demo users. Undefined in production. */
export function readIssuerUrl(env: EnvironmentReader, profile: Profile): string | undefined {
  const url = env.optional("ISSUER_URL", {
    why: "development only: the local token issuer that gives GraphiQL and the try-it forms their demo tokens",
  });
  if (url === undefined) return undefined;
  if (profile === "production") env.problem("ISSUER_URL is for PROFILE=development: production has no local issuer");
  if (!isHttpUrl(url)) env.problem("ISSUER_URL is not an http(s) URL");
  return url;
}
