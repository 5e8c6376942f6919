import { isRowId } from "@tributary/kit/postgres/row-id";
import { demoUsers, findDemoUser, defaultScopes } from "./demo-users.ts";

export interface TokenRequest {
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
}

type TokenRequestErrorCode = "invalid_request" | "invalid_scope";

/** RFC 6749, section 5.2: the message, `error_description`, is ASCII without quotes. */
export class TokenRequestError extends Error {
  readonly code: TokenRequestErrorCode;

  constructor(code: TokenRequestErrorCode, message: string) {
    super(message);
    this.name = "TokenRequestError";
    this.code = code;
  }
}

const ttlSecondsDefault = 3_600;
const ttlSecondsMax = 86_400;
const scopeCharsMax = 1_000;
/** RFC 6749, section 3.3. */
const scopePattern = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/;
const secondsPattern = /^\d{1,6}$/;

/** Any scope is granted to any user, also one that the platform does not know. @param body a form has numbers as strings. */
export function readTokenRequest(body: unknown): TokenRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new TokenRequestError("invalid_request", "Send a form or a JSON object with a field user.");
  }
  const { user, scope, expires_in: expiresIn, ...others } = body as Record<string, unknown>;
  if (Object.keys(others).length > 0) {
    throw new TokenRequestError("invalid_request", "The fields are user, scope and expires_in, and no others.");
  }
  const { userId, scopes: scopesOfUser } = readUser(user);
  const scopes = readScopes(scope) ?? scopesOfUser;
  return { userId, scopes, ttlSeconds: readTtl(expiresIn) };
}

function readUser(user: unknown): { readonly userId: string; readonly scopes: readonly string[] } {
  const nameOrId = typeof user === "number" ? String(user) : user;
  if (typeof nameOrId === "string") {
    const demoUser = findDemoUser(nameOrId);
    if (demoUser) return demoUser;
    if (isRowId(nameOrId)) return { userId: nameOrId, scopes: defaultScopes };
  }
  const names = demoUsers.map(({ name }) => name).join(", ");
  throw new TokenRequestError("invalid_request", `The user has to be one of ${names}, or a user id.`);
}

function readScopes(scope: unknown): readonly string[] | undefined {
  if (scope === undefined) return undefined;
  if (scope === "") return [];
  if (typeof scope === "string" && scope.length <= scopeCharsMax && scopePattern.test(scope)) return scope.split(" ");
  const message = `The scope is a list of words with one space between, at most ${scopeCharsMax} characters.`;
  throw new TokenRequestError("invalid_scope", message);
}

function readTtl(expiresIn: unknown): number {
  if (expiresIn === undefined) return ttlSecondsDefault;
  const isDigits = typeof expiresIn === "string" && secondsPattern.test(expiresIn);
  const seconds = isDigits ? Number(expiresIn) : expiresIn;
  if (isInteger(seconds) && seconds >= 1 && seconds <= ttlSecondsMax) return seconds;
  throw new TokenRequestError("invalid_request", `expires_in is a whole number of seconds from 1 to ${ttlSecondsMax}.`);
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}
