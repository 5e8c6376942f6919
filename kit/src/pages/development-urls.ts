import { isHttpUrl } from "../http/http-url.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";

/** The local token issuer, from which pages get the tokens of demo users. Undefined in production. */
export function readIssuerUrl(env: EnvironmentReader, profile: Profile): string | undefined {
  return readDevelopmentUrl(env, profile, {
    name: "ISSUER_URL",
    why: "the local token issuer that gives GraphiQL and the try-it forms their demo tokens",
  });
}

/** A URL for the pages of development. Undefined in production. */
export function readDevelopmentUrl(
  env: EnvironmentReader,
  profile: Profile,
  { name, why }: { readonly name: string; readonly why: string },
): string | undefined {
  const url = env.optional(name, { why: `development only: ${why}` });
  if (url === undefined) return undefined;
  if (profile === "production") env.problem(`${name} is for PROFILE=development: production has no page that uses it`);
  if (!isHttpUrl(url)) env.problem(`${name} is not an http(s) URL`);
  return url;
}
