// The identity of a caller, and the checks of identities and scopes for the actions.ts of services. token-verifier.ts verifies the tokens.
import { AppError } from "../errors/app-error.ts";

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

/** Authenticates by the value of `Authorization`; undefined means an anonymous caller. Rejects an invalid value (`createAuthenticator`). */
export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

export function hasScope(identity: Identity, scope: string): boolean {
  return identity.kind === "user" && identity.scopes.has(scope);
}

/** Whether the caller is this user. Always false for null, which is the owner of a row without an owner. */
export function isUser(identity: Identity, userId: string | null): boolean {
  return identity.kind === "user" && identity.userId === userId;
}

/** @throws AppError UNAUTHENTICATED for an anonymous caller. */
export function requireUser(identity: Identity): UserIdentity {
  if (identity.kind === "user") return identity;
  throw new AppError("UNAUTHENTICATED", "This requires a token. Send it as `Authorization: Bearer …`.");
}

/** @throws AppError UNAUTHENTICATED for an anonymous caller, FORBIDDEN if the token has none of the scopes. */
export function requireAnyScope(identity: Identity, ...anyOf: readonly string[]): UserIdentity {
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
