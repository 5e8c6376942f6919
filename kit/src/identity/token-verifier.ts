// Verifies bearer tokens: for the services by `createAuthenticator`, for the gateway and the REST proxy by kit/src/caller/caller.ts.
import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { AppError } from "../errors/app-error.ts";
import { isRowId } from "../postgres/row-id.ts";
import { createTokenKeys, type TokenKeysOptions } from "./token-keys.ts";
import { anonymous, type Authenticate, type UserIdentity } from "./tokens.ts";

export interface TokenVerifierOptions extends TokenKeysOptions {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the user's id: a row id, as a string or as a whole number that a double represents. */
  readonly userIdClaim: string;
  /** The claim that holds the name of the client, such as `azp`. Undefined: tokens name no client. */
  readonly clientClaim?: string | undefined;
  /** Allowed clock difference to the issuer, in seconds. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** The maximum number of verified tokens in the cache. Default 10,000. */
  readonly verifiedTokensMax?: number;
  /** Milliseconds since 1970, for the expiry of tokens. Default `Date.now`. The fetches of keys always use `Date.now`. */
  readonly now?: () => number;
}

export interface VerifiedToken {
  readonly identity: UserIdentity;
  /** `user:` and the user's id: `Caller.key` for limits. Stored here, so that a request with a cached token allocates no string for it. */
  readonly userKey: string;
  /** The value of `clientClaim`. Undefined if the token has none. */
  readonly clientName: string | undefined;
}

export interface TokenVerifier {
  /**
   * Finds the result of an earlier verification.
   * @param authorization the value of `Authorization`.
   * @param connection of the client, by which its last verified token is found faster. Any object; undefined if unknown.
   * @returns the AppError UNAUTHENTICATED of a token that was rejected at most 5 s ago; undefined if the token must be verified.
   */
  find(authorization: string, connection?: object): VerifiedToken | AppError | undefined;
  /**
   * Verifies a token and caches the result. Requests with the same token share one verification.
   * @throws AppError UNAUTHENTICATED for an invalid token, synchronously if the header is not `Bearer` and a token; SERVICE_UNAVAILABLE if the keys
   * cannot be fetched or too many tokens wait.
   */
  verify(authorization: string): Promise<VerifiedToken>;
}

/**
 * The accepted values of a token's `alg`. All are asymmetric: with a symmetric one, anyone could sign with the public key as the secret
 * (RFC 8725, 2.1). `none` is not accepted.
 */
const signatureAlgorithms = ["RS256", "ES256", "EdDSA"];
/** How long a verified token is accepted without verification, but not after its `exp`. */
const verifiedTokenMs = 60_000;
/** How long an invalid token is rejected without a new verification. Short, since a new key of the issuer can make the token valid. */
const rejectedTokenMs = 5_000;
const rejectedTokensMax = 1_000;
const tokenCharsMax = 8_192;
/** Verifying a signature takes some 170 µs of CPU: 1,800 verifications that start in one turn of the event loop block it for 250 ms. */
const startsPerTurnMax = 8;
/** The maximum number of tokens that wait for the start of their signature's verification. Tokens that wait for the keys are not counted. */
const waitingMax = 1_000;
const clientNameCharsMax = 128;

/**
 * Verifies bearer tokens (RFC 6750, RFC 8725). A token must have a signature by an accepted algorithm, the configured issuer and audience, an `exp`
 * in the future and the user's id. The keys come only from `jwksUrl`: `jku`, `jwk` and `x5u` in a token's header are ignored.
 */
export function createTokenVerifier(o: TokenVerifierOptions): TokenVerifier {
  const keys = createTokenKeys(o);
  const now = o.now ?? Date.now;
  const verified = createExpiringCache<VerifiedToken>(o.verifiedTokensMax ?? 10_000, now);
  // A separate cache: otherwise a flood of invalid tokens would evict the verified ones.
  const rejected = createExpiringCache<AppError>(rejectedTokensMax, now);
  const pending = new Map<string, Promise<VerifiedToken>>();
  const waitForStart = createStartLimit();
  // V8 hashes all characters of a token to find it in the cache, which takes many times as long as comparing it with the connection's last token.
  const lastOfConnection = new WeakMap<object, { readonly authorization: string } & ExpiringEntry<VerifiedToken>>();

  function findVerified(authorization: string, connection: object | undefined): VerifiedToken | undefined {
    const last = connection && lastOfConnection.get(connection);
    if (last?.authorization === authorization && last.untilMs > now()) return last.value;
    const entry = verified.find(authorization);
    if (entry && connection) lastOfConnection.set(connection, { authorization, ...entry });
    return entry?.value;
  }

  return {
    find: (authorization, connection) => findVerified(authorization, connection) ?? rejected.find(authorization)?.value,
    verify(authorization) {
      const token = readBearer(authorization);
      const inFlight = pending.get(authorization);
      if (inFlight) return inFlight;
      const result = verify(authorization, token).finally(() => pending.delete(authorization));
      pending.set(authorization, result);
      return result;
    },
  };

  async function verify(authorization: string, token: string): Promise<VerifiedToken> {
    try {
      const payload = await verifySignature(token);
      const identity = readIdentity(payload, o.userIdClaim);
      const clientName = readClientClaim(payload, o.clientClaim);
      const result = { identity, userKey: `user:${identity.userId}`, clientName };
      verified.add(authorization, result, Math.min(now() + verifiedTokenMs, (payload.exp ?? 0) * 1000));
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code === "UNAUTHENTICATED")
        rejected.add(authorization, error, now() + rejectedTokenMs);
      throw error;
    }
  }

  async function verifySignature(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, getKeyAndWaitForStart, {
        algorithms: signatureAlgorithms,
        issuer: o.issuer,
        audience: o.audience,
        requiredClaims: ["exp", o.userIdClaim],
        clockTolerance: o.clockToleranceSeconds ?? 5,
        currentDate: new Date(now()),
      });
      return payload;
    } catch (error) {
      throw error instanceof AppError ? error : toAppError(error);
    }
  }

  /** `jwtVerify` calls it after it has read the token's header, and then verifies the signature in the same turn of the event loop. */
  async function getKeyAndWaitForStart(...token: Parameters<JWTVerifyGetKey>) {
    // The key comes first: otherwise all tokens that wait for the same fetch of the keys would start in the turn in which it completes.
    const key = await keys(...token);
    await waitForStart();
    return key;
  }
}

/** @returns a function that throws AppError UNAUTHENTICATED for an invalid token, SERVICE_UNAVAILABLE if the keys cannot be fetched. */
export function createAuthenticator(o: TokenVerifierOptions): Authenticate {
  const verifier = createTokenVerifier(o);
  return async function authenticate(authorization) {
    if (authorization === undefined) return anonymous;
    const known = verifier.find(authorization);
    if (known instanceof AppError) throw known;
    return (known ?? (await verifier.verify(authorization))).identity;
  };
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
  // All failures of the fetch. jose throws ERR_JOSE_GENERIC for a status other than 200 and for a body that is not JSON; errors of `fetch` itself are
  // no JOSEError.
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

function readClientClaim(payload: JWTPayload, claim: string | undefined): string | undefined {
  const name = claim === undefined ? undefined : payload[claim];
  return typeof name === "string" && name !== "" && name.length <= clientNameCharsMax ? name : undefined;
}

interface ExpiringEntry<Value> {
  readonly value: Value;
  /** In milliseconds since 1970. */
  readonly untilMs: number;
}

/** A bounded cache by the value of `Authorization`. */
function createExpiringCache<Value>(entriesMax: number, now: () => number) {
  const entries = createBoundedMap<ExpiringEntry<Value>>({ entriesMax });
  return {
    find(authorization: string): ExpiringEntry<Value> | undefined {
      const entry = entries.get(authorization);
      if (entry === undefined || entry.untilMs > now()) return entry;
      entries.delete(authorization);
      return undefined;
    },
    add(authorization: string, value: Value, untilMs: number): void {
      entries.set(authorization, { value, untilMs });
    },
  };
}

/**
 * Limits how many verifications of signatures start in one turn of the event loop.
 * @returns a function to call before each verification. It returns undefined if the verification may start at once, else a promise that resolves when
 * it may start. It throws AppError SERVICE_UNAVAILABLE if too many verifications wait.
 */
function createStartLimit(): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let starts = 0;
  let isScheduled = false;

  function beginTurn(): void {
    const next = waiting.splice(0, startsPerTurnMax);
    starts = next.length;
    for (const start of next) start();
    isScheduled = starts > 0;
    if (isScheduled) setImmediate(beginTurn);
  }

  return () => {
    if (!isScheduled) {
      isScheduled = true;
      setImmediate(beginTurn);
    }
    if (starts < startsPerTurnMax) {
      starts++;
      return undefined;
    }
    if (waiting.length >= waitingMax)
      throw new AppError("SERVICE_UNAVAILABLE", "Too many tokens are being verified. Try again.", {
        retryAfterSeconds: 1,
      });
    return new Promise((resolve) => void waiting.push(resolve));
  };
}
