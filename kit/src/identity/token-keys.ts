import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import { noTrace, type Span, type Trace } from "../telemetry/tracing/trace.ts";

export interface TokenKeysOptions {
  readonly jwksUrl: string;
  /** A fetch in the background failed; the known keys remain in use. */
  readonly onKeysError?: ((error: unknown) => void) | undefined;
  /** `isOk`: the response was a 200 with a key set. */
  readonly onKeysFetched?: ((isOk: boolean) => void) | undefined;
  readonly trace?: Pick<Trace, "span"> | undefined;
}

/** After this time a verification starts a fetch in the background, and does not wait for it. */
const keysFreshMs = 600_000;
/** A token with an unknown key id waits for a fetch, unless the last one succeeded less than this time ago. */
const keysCooldownMs = 1_000;
const keysTimeoutMs = 3_000;
const keysMaxAgeMs = 86_400_000;
const keysRetryMs = 30_000;

/** While the issuer is down, tokens signed with a known key remain valid. */
export function createTokenKeys({
  jwksUrl,
  onKeysError,
  onKeysFetched,
  trace = noTrace,
}: TokenKeysOptions): JWTVerifyGetKey {
  let failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  const toFailure = (error: unknown) => ({ error, untilMs: Date.now() + keysCooldownMs });
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: keysTimeoutMs,
    cooldownDuration: keysCooldownMs,
    cacheMaxAge: keysMaxAgeMs,
    async [customFetch](url, options) {
      // The cooldown of jose is after a success only.
      if (failure && Date.now() < failure.untilMs) throw failure.error;
      failure = undefined;
      try {
        const response = await fetchKeys(url, options, trace);
        const isOk = response.status === 200 && (await hasKeySet(response.clone()));
        onKeysFetched?.(isOk);
        if (!isOk)
          failure = toFailure(new Error(`The token issuer responded with ${response.status} and without a key set`));
        return response;
      } catch (error) {
        onKeysFetched?.(false);
        failure = toFailure(error);
        throw error;
      }
    },
  });
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
      renewAtMs = Date.now() + keysFreshMs;
    } else if (Date.now() >= renewAtMs) {
      void renew();
    }
    return remote(header, token);
  };
}

/** A maintenance page of a balancer is a 200 too. */
async function hasKeySet(response: Response): Promise<boolean> {
  const body = (await response.json().catch(() => undefined)) as { readonly keys?: unknown } | undefined;
  return Array.isArray(body?.keys);
}

/** The span ends with the head of the response. */
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
