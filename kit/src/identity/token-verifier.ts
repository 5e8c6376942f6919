import { type CompactJWSHeaderParameters, errors, type FlattenedJWSInput, type JWTPayload, jwtVerify } from "jose";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { AppError } from "../errors/app-error.ts";
import { isRowId } from "../postgres/row-id.ts";
import { createTokenKeys, type TokenKeysOptions } from "./token-keys.ts";
import { anonymous, type Authenticate, type UserIdentity } from "./tokens.ts";

export interface TokenVerifierOptions extends TokenKeysOptions {
  readonly issuer: string;
  readonly audience: string;
  /** Holds the user's id, as a string or as a whole number that a double represents. */
  readonly userIdClaim: string;
  /** Default: row ids only. Issuers of other platforms have ids such as `auth0|5f7c8ec7` (RFC 7519, 4.1.2). */
  readonly isAcceptedId?: ((text: string) => boolean) | undefined;
  /** Holds the name of the client, such as `azp`. Undefined: tokens name no client. */
  readonly clientClaim?: string | undefined;
  /** Default 10,000. */
  readonly verifiedTokensMax?: number;
  /** For the expiry of tokens. Fetches of keys always use `Date.now`. */
  readonly now?: () => number;
}

export interface VerifiedToken {
  readonly identity: UserIdentity;
  /** `user:` and the user's id, so that a request with a cached token allocates no string for it. */
  readonly userKey: string;
  readonly clientName: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface TokenVerifier {
  /**
   * @param connection any object: its last verified token is found faster.
   * @returns the error of a token that was rejected at most 5 s ago; undefined if the token must be verified.
   */
  find(authorization: string, connection?: object): VerifiedToken | AppError | undefined;
  /**
   * Requests with the same token share one verification. @throws AppError UNAUTHENTICATED, synchronously if the header is not `Bearer` and
   * a token; SERVICE_UNAVAILABLE if the keys cannot be fetched or too many tokens wait.
   */
  verify(authorization: string): Promise<VerifiedToken>;
}

/** All are asymmetric: with a symmetric one, anyone could sign with the public key as the secret (RFC 8725, 2.1). */
const signatureAlgorithms = ["RS256", "ES256", "EdDSA"];
/** Others, such as `logout+jwt`, are for another use (RFC 8725, 3.11; RFC 9068, 4). The prefix may be absent (RFC 7515, 4.1.9). */
const tokenTypes = /^(?:application\/)?(?:at\+)?jwt$/i;
/** But not after its `exp`. */
const verifiedTokenMs = 60_000;
/** Short, since a new key of the issuer can make the token valid. */
const rejectedTokenMs = 5_000;
const rejectedTokensMax = 1_000;
const tokenCharsMax = 8_192;
/** A signature takes some 170 µs of CPU: 1,800 of them in one turn of the event loop block it for 250 ms. */
const startsPerTurnMax = 8;
/** Tokens that wait for the keys are not counted. */
const waitingMax = 1_000;
const clientNameCharsMax = 128;
/** Clock difference to the issuer. */
const clockToleranceSeconds = 5;
/** RFC 6750, 2.1. */
const bearerHeader = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i;

interface ExpiringEntry<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

interface ConnectionToken extends ExpiringEntry<VerifiedToken> {
  readonly authorization: string;
}

/** RFC 6750, RFC 8725. The keys come only from `jwksUrl`: `jku`, `jwk` and `x5u` in a token's header are ignored. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const getKey = createTokenKeys(options);
  const now = options.now ?? Date.now;
  const verifiedTokens = createExpiringCache<VerifiedToken>(options.verifiedTokensMax ?? 10_000, now);
  // Separate: a flood of invalid tokens would evict the verified ones.
  const rejections = createExpiringCache<AppError>(rejectedTokensMax, now);
  const pendingVerifications = new Map<string, Promise<VerifiedToken>>();
  const waitForStart = createStartLimit();
  // To find a token in the cache V8 hashes all its characters, which takes many times as long as comparing it.
  const lastOfConnection = new WeakMap<object, ConnectionToken>();

  function findVerified(authorization: string, connection: object | undefined): VerifiedToken | undefined {
    const last = connection && lastOfConnection.get(connection);
    if (last?.authorization === authorization && last.untilMs > now()) return last.value;
    const entry = verifiedTokens.find(authorization);
    if (entry && connection) {
      lastOfConnection.set(connection, { authorization, value: entry.value, untilMs: entry.untilMs });
    }
    return entry?.value;
  }

  return {
    find: (authorization, connection) =>
      findVerified(authorization, connection) ?? rejections.find(authorization)?.value,
    verify(authorization) {
      const token = readBearer(authorization);
      const pending = pendingVerifications.get(authorization);
      if (pending) return pending;
      const verification = verifyToken(authorization, token).finally(() => pendingVerifications.delete(authorization));
      pendingVerifications.set(authorization, verification);
      return verification;
    },
  };

  async function verifyToken(authorization: string, token: string): Promise<VerifiedToken> {
    try {
      const payload = await readVerifiedPayload(token);
      const identity = readIdentity(payload, options);
      const clientName = readClientClaim(payload, options.clientClaim);
      const verifiedToken = { identity, userKey: `user:${identity.userId}`, clientName, claims: payload };
      const expiresAtMs = readExpiryMs(payload);
      verifiedTokens.add(authorization, verifiedToken, Math.min(now() + verifiedTokenMs, expiresAtMs));
      return verifiedToken;
    } catch (error) {
      if (error instanceof AppError && error.code === "UNAUTHENTICATED") {
        rejections.add(authorization, error, now() + rejectedTokenMs);
      }
      throw error;
    }
  }

  async function readVerifiedPayload(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, getKeyAndWaitForStart, {
        algorithms: signatureAlgorithms,
        issuer: options.issuer,
        audience: options.audience,
        requiredClaims: ["exp", options.userIdClaim],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
      });
      return payload;
    } catch (error) {
      throw error instanceof AppError ? error : toAppError(error);
    }
  }

  /** `jwtVerify` calls it, and then verifies the signature in the same turn of the event loop. */
  async function getKeyAndWaitForStart(header: CompactJWSHeaderParameters, token: FlattenedJWSInput) {
    requireTokenType(header);
    // The key comes first: otherwise all tokens that wait for the same fetch would start in the turn in which it completes.
    const key = await getKey(header, token);
    await waitForStart();
    return key;
  }
}

export function createAuthenticator(options: TokenVerifierOptions): Authenticate {
  const verifier = createTokenVerifier(options);
  return async function authenticate(authorization) {
    if (authorization === undefined) return anonymous;
    const known = verifier.find(authorization);
    if (known instanceof AppError) throw known;
    const verifiedToken = known ?? (await verifier.verify(authorization));
    return verifiedToken.identity;
  };
}

function readBearer(authorization: string): string {
  const token = bearerHeader.exec(authorization)?.[1];
  if (token === undefined || token.length > tokenCharsMax) {
    throw new AppError("UNAUTHENTICATED", "The Authorization header must be `Bearer` and a token.");
  }
  return token;
}

function requireTokenType({ typ }: CompactJWSHeaderParameters): void {
  if (typ === undefined || (typeof typ === "string" && tokenTypes.test(typ))) return;
  throw new AppError("UNAUTHENTICATED", "The token is not an access token.");
}

/** `JSON.parse` reads 1e400 as Infinity, which jose accepts: the token would never expire. */
function readExpiryMs({ exp }: JWTPayload): number {
  const expiresAtMs = Number(exp) * 1000;
  if (Number.isFinite(expiresAtMs)) return expiresAtMs;
  throw new AppError("UNAUTHENTICATED", "The token has no valid time of expiry.");
}

function readIdentity(
  payload: JWTPayload,
  { userIdClaim, isAcceptedId = isRowId }: Pick<TokenVerifierOptions, "userIdClaim" | "isAcceptedId">,
): UserIdentity {
  const claimValue = payload[userIdClaim];
  // A number above 2^53 was rounded by JSON.parse, perhaps to another user's id.
  const userId = Number.isSafeInteger(claimValue) ? String(claimValue) : claimValue;
  if (typeof userId !== "string" || !isAcceptedId(userId)) {
    throw new AppError("UNAUTHENTICATED", "The token does not name a user of this platform.");
  }
  const scopeClaim = typeof payload["scope"] === "string" ? payload["scope"] : "";
  const scopes = new Set(scopeClaim.split(" ").filter((scope) => scope !== ""));
  return { kind: "user", userId, scopes };
}

function toAppError(error: unknown): AppError {
  if (error instanceof errors.JWTExpired) {
    return new AppError("UNAUTHENTICATED", "The token has expired.", { cause: error });
  }
  // jose throws ERR_JOSE_GENERIC for another status than 200 and for a body that is not JSON; errors of `fetch` are no JSONError.
  const areKeysUnreachable =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !(error instanceof errors.JOSEError) ||
    error.code === "ERR_JOSE_GENERIC";
  if (areKeysUnreachable) {
    return new AppError("SERVICE_UNAVAILABLE", "Tokens cannot be verified at the moment. Try again.", {
      cause: error,
      retryAfterSeconds: 1,
      dependency: "token-issuer",
    });
  }
  return new AppError("UNAUTHENTICATED", "The token is not valid here.", { cause: error });
}

function readClientClaim(payload: JWTPayload, clientClaim: string | undefined): string | undefined {
  if (clientClaim === undefined) return undefined;
  const name = payload[clientClaim];
  if (typeof name !== "string" || name === "") return undefined;
  return name.length <= clientNameCharsMax ? name : undefined;
}

function createExpiringCache<Value>(entriesMax: number, now: () => number) {
  const entries = createBoundedMap<ExpiringEntry<Value>>({ entriesMax });
  return {
    find(authorization: string): ExpiringEntry<Value> | undefined {
      const entry = entries.get(authorization);
      if (entry === undefined) return undefined;
      if (entry.untilMs > now()) return entry;
      entries.delete(authorization);
      return undefined;
    },
    add(authorization: string, value: Value, untilMs: number): void {
      entries.set(authorization, { value, untilMs });
    },
  };
}

/** Undefined if a verification may start at once, else a promise of its start. @throws AppError SERVICE_UNAVAILABLE if too many wait. */
function createStartLimit(): () => Promise<void> | undefined {
  const waitingStarts: (() => void)[] = [];
  let startsInTurn = 0;
  let isNextTurnScheduled = false;

  function beginTurn(): void {
    const dueStarts = waitingStarts.splice(0, startsPerTurnMax);
    startsInTurn = dueStarts.length;
    for (const start of dueStarts) start();
    isNextTurnScheduled = startsInTurn > 0;
    if (isNextTurnScheduled) setImmediate(beginTurn);
  }

  return () => {
    if (!isNextTurnScheduled) {
      isNextTurnScheduled = true;
      setImmediate(beginTurn);
    }
    if (startsInTurn < startsPerTurnMax) {
      startsInTurn++;
      return undefined;
    }
    if (waitingStarts.length >= waitingMax)
      throw new AppError("SERVICE_UNAVAILABLE", "Too many tokens are being verified. Try again.", {
        retryAfterSeconds: 1,
      });
    return new Promise((resolve) => {
      waitingStarts.push(resolve);
    });
  };
}
