// The public keys of the token issuer, from its JWKS URL, for token-verifier.ts.
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import { noTrace, type Span, type Trace } from "../telemetry/tracing/trace.ts";

export interface TokenKeysOptions {
  readonly jwksUrl: string;
  /** Called when a fetch in the background failed; the known keys remain in use. Any other failed fetch rejects the requests that wait for it. */
  readonly onKeysError?: ((error: unknown) => void) | undefined;
  /** Called after each fetch of the keys. `isOk`: the response was a 200. */
  readonly onKeysFetched?: ((isOk: boolean) => void) | undefined;
  /** A fetch of keys becomes a span of the request that causes it. */
  readonly trace?: Pick<Trace, "span"> | undefined;
}

/** The first verification after this time starts a fetch of the keys in the background and does not wait for it. */
const keysFreshMs = 600_000;
/** A token with an unknown key id causes a fetch for which its request waits, unless the last fetch succeeded less than this time ago. */
const keysCooldownMs = 1_000;
const keysTimeoutMs = 3_000;
/** How long known keys are used while the issuer cannot be reached. */
const keysMaxAgeMs = 86_400_000;
/** The pause after the start of a failed fetch in the background. */
const keysRetryMs = 30_000;

/** The issuer's keys, first fetched when the first token is verified. While the issuer is down, tokens signed with a known key remain valid. */
export function createTokenKeys({
  jwksUrl,
  onKeysError,
  onKeysFetched,
  trace = noTrace,
}: TokenKeysOptions): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: keysTimeoutMs,
    cooldownDuration: keysCooldownMs,
    cacheMaxAge: keysMaxAgeMs,
    async [customFetch](url, options) {
      const response = await fetchKeys(url, options, trace).catch((error: unknown) => {
        onKeysFetched?.(false);
        throw error;
      });
      onKeysFetched?.(response.status === 200);
      return response;
    },
  });
  /** From this time on (milliseconds since 1970), the next verification fetches the keys again in the background. */
  let renewAtMs = 0;

  async function renew(): Promise<void> {
    renewAtMs = Date.now() + keysRetryMs;
    try {
      await remote.reload();
      renewAtMs = Date.now() + keysFreshMs;
    } catch (error) {
      onKeysError?.(error);
    }
  }

  return async (header, token) => {
    const hasKeys = remote.jwks() !== undefined;
    if (!hasKeys) {
      // The call of `remote` below fetches the first keys itself.
      renewAtMs = Date.now() + keysFreshMs;
    } else if (Date.now() >= renewAtMs) {
      void renew();
    }
    return remote(header, token);
  };
}

/** jose's fetch of the keys, with a span that ends with the head of the response. */
function fetchKeys(url: string, options: RequestInit, trace: Pick<Trace, "span">): Promise<Response> {
  const attributes = { "http.request.method": "GET", "server.address": new URL(url).hostname };
  const send = async (span: Span | undefined) => {
    const response = await fetch(url, options);
    span?.set("http.response.status_code", response.status);
    if (response.status !== 200) span?.fail(String(response.status));
    return response;
  };
  return trace.span("fetch token keys", send, { kind: "client", attributes });
}
