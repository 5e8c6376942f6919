// Identity: verifies the token of each request to a service, and checks identities and scopes for its actions.ts.
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { AppError } from "../errors/app-error.ts";
import { isRowId } from "../postgres/row-id.ts";
import { noTrace, type Span, type Trace } from "../telemetry/tracing/trace.ts";

/** The caller of a request. It comes only from a verified token, never from another header. */
export type Identity = AnonymousIdentity | UserIdentity;

export interface AnonymousIdentity {
  readonly kind: "anonymous";
}

export interface UserIdentity {
  readonly kind: "user";
  readonly userId: string;
  readonly scopes: ReadonlySet<string>;
}

export const anonymous: AnonymousIdentity = { kind: "anonymous" };

export interface AuthenticatorOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
  /** The claim that holds the user's id: a row id, as a string or as a whole number that a double represents. */
  readonly userIdClaim: string;
  /** Allowed clock difference to the issuer, in seconds. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** The maximum number of verified tokens in the cache. Default 10,000. */
  readonly verifiedTokensMax?: number;
  /** Milliseconds since 1970, for the expiry of tokens. Default `Date.now`, which always times the fetches of keys. */
  readonly now?: () => number;
  /** Called when a fetch in the background failed. The known keys remain in use. Any other failed fetch is the error of its request. */
  readonly onKeysError?: (error: unknown) => void;
  /** Called after each fetch of the keys. `isOk`: the response was a 200. */
  readonly onKeysFetched?: (isOk: boolean) => void;
  /** A fetch of keys becomes a span of the request that causes it. */
  readonly trace?: Pick<Trace, "span">;
}

/** Gets the value of `Authorization`. Without one, the caller is anonymous; an invalid one is an error. */
export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

/**
 * The accepted values of a token's `alg`. All are asymmetric: with a symmetric one, anyone could sign with the public key as the secret
 * (RFC 8725, 2.1). `none` is not accepted.
 */
const signatureAlgorithms = ["RS256", "ES256", "EdDSA"];
/** How long a verified token is accepted without verification, but not after its `exp`. */
const verifiedTokenMs = 60_000;
const tokenCharsMax = 8_192;
/**
 * The first verification after this time starts a fetch of the keys and does not wait for it. A token with an unknown key id causes a fetch for
 * which its request waits, unless the last fetch succeeded less than `keysCooldownMs` ago.
 */
const keysFreshMs = 600_000;
const keysCooldownMs = 1_000;
const keysTimeoutMs = 3_000;
/** How long known keys are used while the issuer cannot be reached. */
const keysMaxAgeMs = 86_400_000;
/** The pause after a failed fetch in the background. */
const keysRetryMs = 30_000;

/**
 * Verifies bearer tokens (RFC 6750, RFC 8725). A token must have a signature by an accepted algorithm, the configured issuer and audience, an `exp`
 * in the future and the user's id. The keys come only from `jwksUrl`: `jku`, `jwk` and `x5u` in a token's header are ignored.
 * @returns a function that throws AppError UNAUTHENTICATED for an invalid token, SERVICE_UNAVAILABLE if the keys cannot be fetched.
 */
export function createAuthenticator(o: AuthenticatorOptions): Authenticate {
  const keys = createKeys(o);
  const now = o.now ?? Date.now;
  const verified = createVerifiedTokens(o.verifiedTokensMax ?? 10_000, now);

  return async function authenticate(authorization) {
    if (authorization === undefined) return anonymous;
    const token = readBearer(authorization);
    const known = verified.find(token);
    if (known) return known;
    const payload = await verify(token);
    const identity = readIdentity(payload, o.userIdClaim);
    verified.add(token, identity, Math.min(now() + verifiedTokenMs, (payload.exp ?? 0) * 1000));
    return identity;
  };

  async function verify(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: signatureAlgorithms,
        issuer: o.issuer,
        audience: o.audience,
        requiredClaims: ["exp", o.userIdClaim],
        clockTolerance: o.clockToleranceSeconds ?? 5,
        currentDate: new Date(now()),
      });
      return payload;
    } catch (error) {
      throw toAppError(error);
    }
  }
}

/** The issuer's keys, first fetched when the first token is verified. While the issuer is down, tokens signed with a known key remain valid. */
function createKeys({ jwksUrl, onKeysError, onKeysFetched, trace = noTrace }: AuthenticatorOptions): JWTVerifyGetKey {
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
  /** When the keys are to be fetched again in the background. */
  let renewAt = 0;

  async function renew(): Promise<void> {
    renewAt = Date.now() + keysRetryMs;
    try {
      await remote.reload();
      renewAt = Date.now() + keysFreshMs;
    } catch (error) {
      onKeysError?.(error);
    }
  }

  return async (header, token) => {
    // Without any keys, `remote` itself fetches them below.
    if (remote.jwks() === undefined) renewAt = Date.now() + keysFreshMs;
    else if (Date.now() >= renewAt) void renew();
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

export function hasScope(identity: Identity, scope: string): boolean {
  return identity.kind === "user" && identity.scopes.has(scope);
}

/** Whether the caller is this user. Null, a row without an owner, is no user. */
export function isUser(identity: Identity, userId: string | null): boolean {
  return identity.kind === "user" && identity.userId === userId;
}

/** @throws AppError UNAUTHENTICATED for an anonymous caller. */
export function requireUser(identity: Identity): UserIdentity {
  if (identity.kind === "user") return identity;
  throw new AppError("UNAUTHENTICATED", "This requires a token. Send it as `Authorization: Bearer …`.");
}

/** @throws AppError UNAUTHENTICATED for an anonymous caller, FORBIDDEN if the token has none of the scopes. */
export function requireScope(identity: Identity, ...anyOf: readonly string[]): UserIdentity {
  const user = requireUser(identity);
  if (anyOf.some((scope) => user.scopes.has(scope))) return user;
  throw new AppError("FORBIDDEN", `This requires the scope ${anyOf.join(" or ")}.`);
}

/**
 * Creates, and does not throw, the error for a caller without access: UNAUTHENTICATED without a token, FORBIDDEN with one.
 * @param message the same for all reasons, so that it does not reveal which resources exist.
 */
export function denyAccess(identity: Identity, message: string): AppError {
  return identity.kind === "anonymous"
    ? new AppError("UNAUTHENTICATED", "This requires a token. Send it as `Authorization: Bearer …`.")
    : new AppError("FORBIDDEN", message);
}

function readBearer(authorization: string): string {
  const match = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization);
  const token = match?.[1];
  if (token === undefined || token.length > tokenCharsMax) {
    throw new AppError("UNAUTHENTICATED", "The Authorization header must be `Bearer` and a token.");
  }
  return token;
}

function readIdentity(payload: JWTPayload, claim: string): UserIdentity {
  const raw = payload[claim];
  // A number above 2^53 was rounded by JSON.parse, perhaps to another user's id.
  const userId = Number.isSafeInteger(raw) ? String(raw) : raw;
  if (typeof userId !== "string" || !isRowId(userId)) {
    throw new AppError("UNAUTHENTICATED", "The token does not name a user of this platform.");
  }
  const scope = typeof payload["scope"] === "string" ? payload["scope"] : "";
  return { kind: "user", userId, scopes: new Set(scope.split(" ").filter((word) => word !== "")) };
}

function toAppError(error: unknown): AppError {
  if (error instanceof errors.JWTExpired) {
    return new AppError("UNAUTHENTICATED", "The token has expired.", { cause: error });
  }
  const keysUnreachable =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !(error instanceof errors.JOSEError) ||
    error.code === "ERR_JOSE_GENERIC";
  return keysUnreachable
    ? new AppError("SERVICE_UNAVAILABLE", "Tokens cannot be verified at the moment. Try again.", {
        cause: error,
        retryAfterSeconds: 1,
        dependency: "token-issuer",
      })
    : new AppError("UNAUTHENTICATED", "The token is not valid here.", { cause: error });
}

function createVerifiedTokens(max: number, now: () => number) {
  const identities = createBoundedMap<{ readonly identity: UserIdentity; readonly until: number }>({ entriesMax: max });
  return {
    find(token: string): UserIdentity | undefined {
      const entry = identities.get(token);
      if (entry && entry.until > now()) return entry.identity;
      identities.delete(token);
      return undefined;
    },
    add(token: string, identity: UserIdentity, until: number): void {
      identities.set(token, { identity, until });
    },
  };
}
