import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { AppError } from "../errors/app-error.ts";
import { isRowId } from "../postgres/row-id.ts";
import { noTrace, type Span, type Trace } from "../telemetry/tracing/trace.ts";

/** Who calls. It comes from a verified token or from nowhere; no header says it. */
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
  /** The claim that holds the user's id. */
  readonly userIdClaim: string;
  /** Leeway for clocks that differ, in seconds. */
  readonly clockToleranceSeconds?: number;
  /** Verified tokens kept, at most this many and each at most 60 s. */
  readonly verifiedTokensMax?: number;
  readonly now?: () => number;
  /** Told when the keys could not be had anew; those that are known go on. */
  readonly onKeysError?: (error: unknown) => void;
  /** Told each time that the issuer was asked for its keys: whether it answered with 200. */
  readonly onKeysFetched?: (isGiven: boolean) => void;
  /** The asking for keys becomes a span of the request that causes it. */
  readonly trace?: Pick<Trace, "span">;
}

export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

const keptTokenMs = 60_000;
const tokenCharsMax = 8_192;
/** Keys are asked for again after this, beside the requests; sooner, and before the request, for one that is not known. */
const keysFreshMs = 600_000;
/** How long keys are believed while the issuer cannot be reached. */
const keysKeptMs = 86_400_000;
/** How long an issuer that could not be reached is left alone. */
const keysRetryMs = 30_000;

/**
 * Verifies bearer tokens (RFC 6750, RFC 8725): only asymmetric signatures, issuer, audience, `exp` and the user's id are required.
 * The keys come from `jwksUrl` alone: `jku`, `jwk` and `x5u` in a token's header mean nothing here.
 * @returns a function that throws AppError UNAUTHENTICATED for a token that does not hold, SERVICE_UNAVAILABLE when the keys cannot be had.
 */
export function createAuthenticator(o: AuthenticatorOptions): Authenticate {
  const keys = createKeys(o);
  const now = o.now ?? Date.now;
  const kept = createKept(o.verifiedTokensMax ?? 10_000, now);

  return async function authenticate(authorization) {
    if (authorization === undefined) return anonymous;
    const token = readBearer(authorization);
    const known = kept.find(token);
    if (known) return known;
    const payload = await verify(token);
    const identity = readIdentity(payload, o.userIdClaim);
    kept.keep(token, identity, Math.min(now() + keptTokenMs, (payload.exp ?? 0) * 1000));
    return identity;
  };

  async function verify(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ["RS256", "ES256", "EdDSA"],
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

/** The issuer's keys. An issuer that is down keeps nobody out who has a token of a key that is known. */
function createKeys({ jwksUrl, onKeysError, onKeysFetched, trace = noTrace }: AuthenticatorOptions): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: 3_000,
    cooldownDuration: 1_000,
    cacheMaxAge: keysKeptMs,
    async [customFetch](url, options) {
      const response = await fetchKeys(url, options, trace).catch((error: unknown) => {
        onKeysFetched?.(false);
        throw error;
      });
      onKeysFetched?.(response.status === 200);
      return response;
    },
  });
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
    if (remote.jwks() === undefined) renewAt = Date.now() + keysFreshMs;
    else if (Date.now() >= renewAt) void renew();
    return remote(header, token);
  };
}

/** jose's own asking, as a span until the head of the answer. */
function fetchKeys(url: string, options: RequestInit, trace: Pick<Trace, "span">): Promise<Response> {
  const attributes = { "http.request.method": "GET", "server.address": new URL(url).hostname };
  const ask = async (span: Span | undefined) => {
    const response = await fetch(url, options);
    span?.set("http.response.status_code", response.status);
    if (response.status !== 200) span?.fail(String(response.status));
    return response;
  };
  return trace.span("fetch token keys", ask, { kind: "client", attributes });
}

export function hasScope(identity: Identity, scope: string): boolean {
  return identity.kind === "user" && identity.scopes.has(scope);
}

export function isUser(identity: Identity, userId: string | null): boolean {
  return identity.kind === "user" && identity.userId === userId;
}

/** @throws AppError UNAUTHENTICATED when nobody calls. */
export function requireUser(identity: Identity): UserIdentity {
  if (identity.kind === "user") return identity;
  throw new AppError("UNAUTHENTICATED", "This needs a token: send one as `Authorization: Bearer …`.");
}

/** @throws AppError UNAUTHENTICATED when nobody calls, FORBIDDEN when no one of the scopes is there. */
export function requireScope(identity: Identity, ...anyOf: readonly string[]): UserIdentity {
  const user = requireUser(identity);
  if (anyOf.some((scope) => user.scopes.has(scope))) return user;
  throw new AppError("FORBIDDEN", `This needs the scope ${anyOf.join(" or ")}.`);
}

/** What a caller gets who has a token that does not reach this far. One sentence for all, so that it tells nothing more. */
export function denyAccess(identity: Identity, message: string): AppError {
  return identity.kind === "anonymous"
    ? new AppError("UNAUTHENTICATED", "This needs a token: send one as `Authorization: Bearer …`.")
    : new AppError("FORBIDDEN", message);
}

function readBearer(authorization: string): string {
  const match = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization);
  const token = match?.[1];
  if (token === undefined || token.length > tokenCharsMax) {
    throw new AppError("UNAUTHENTICATED", "The Authorization header has to be `Bearer` and a token.");
  }
  return token;
}

function readIdentity(payload: JWTPayload, claim: string): UserIdentity {
  const raw = payload[claim];
  // A number above 2^53 was rounded when it was read, perhaps to another user's id.
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
    ? new AppError("SERVICE_UNAVAILABLE", "Tokens cannot be checked at the moment.", {
        cause: error,
        retryAfterSeconds: 1,
        dependency: "token-issuer",
      })
    : new AppError("UNAUTHENTICATED", "The token is not valid here.", { cause: error });
}

function createKept(max: number, now: () => number) {
  const identities = createBoundedMap<{ readonly identity: UserIdentity; readonly until: number }>({ entriesMax: max });
  return {
    find(token: string): UserIdentity | undefined {
      const entry = identities.get(token);
      if (entry && entry.until > now()) return entry.identity;
      identities.delete(token);
      return undefined;
    },
    keep(token: string, identity: UserIdentity, until: number): void {
      identities.set(token, { identity, until });
    },
  };
}
