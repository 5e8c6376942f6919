import { AppError } from "../errors/app-error.ts";

/** It comes only from a verified token, never from another header. */
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

export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

export function hasScope(identity: Identity, scope: string): boolean {
  return identity.kind === "user" && identity.scopes.has(scope);
}

/** Always false for null, the owner of a row without an owner. */
export function isUser(identity: Identity, userId: string | null): boolean {
  return identity.kind === "user" && identity.userId === userId;
}

export function requireUser(identity: Identity): UserIdentity {
  if (identity.kind === "user") return identity;
  throw new AppError("UNAUTHENTICATED", "This requires a token. Send it as `Authorization: Bearer …`.");
}

/** @throws AppError UNAUTHENTICATED, or FORBIDDEN if the token has none of the scopes. */
export function requireAnyScope(identity: Identity, ...anyOf: readonly string[]): UserIdentity {
  const user = requireUser(identity);
  if (anyOf.some((scope) => user.scopes.has(scope))) return user;
  throw new AppError("FORBIDDEN", `This requires the scope ${anyOf.join(" or ")}.`);
}

/** @param message the same for all reasons, so that it does not reveal which resources exist. */
export function denyAccess(identity: Identity, message: string): AppError {
  return identity.kind === "anonymous"
    ? new AppError("UNAUTHENTICATED", "This requires a token. Send it as `Authorization: Bearer …`.")
    : new AppError("FORBIDDEN", message);
}
