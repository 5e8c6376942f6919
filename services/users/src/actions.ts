import { readChange } from "@tributary/kit/http/requested-change";
import { AppError } from "@tributary/kit/errors/app-error";
import type { IdempotentResult } from "@tributary/kit/idempotency/idempotency";
import { anyVersion, allowsVersion, type Precondition, toVersionError } from "@tributary/kit/http/etag";
import { type Identity, hasScope, isUser, denyAccess, requireAnyScope } from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import type { NewUser, PrivatePart, User, UserChanges, UserFilters, UserState } from "./model.ts";
import type { UserStore } from "./store.ts";

/** GraphQL shows deactivated accounts: INVALID_STATE. REST does not: NOT_FOUND in version 1, GONE in version 2. */
export type DeactivatedAs = "INVALID_STATE" | "GONE" | "NOT_FOUND";

interface InputOptions {
  /** JSON pointer to the email address in the caller's input; `#/email` by default. */
  readonly emailPointer?: string;
}

export interface ChangeOptions extends InputOptions {
  /** Reads the request's conditions; called only after authorization. */
  readonly precondition?: () => Precondition;
  readonly deactivatedAs?: DeactivatedAs;
}

export type UserActions = ReturnType<typeof createUserActions>;

/**
 * Everyone may read users, but not their private fields. Input is called only after authorization, so that 401 and 403 precede its errors.
 */
export function createUserActions(store: UserStore) {
  // Concurrent requests share one statement. Nothing is cached.
  const findStateBatched = batchLookups((ids) => store.findUserStates(ids));

  return {
    /** Includes deactivated accounts. */
    findUsers: (ids: readonly string[]) => store.findUsers(ids),

    /** @throws AppError NOT_FOUND, or `deactivatedAs` for a deactivated account. */
    async getActiveUser(id: string, deactivatedAs: DeactivatedAs): Promise<User> {
      const [user] = await store.findUsers([id]);
      return requireActive(user, deactivatedAs);
    },

    /** Only the state of the user that `getActiveUser` returns, with the same errors. */
    async getActiveState(id: string, deactivatedAs: DeactivatedAs): Promise<UserState> {
      return requireActive(await findStateBatched(id), deactivatedAs);
    },

    /** Only active accounts. */
    listUsers: (filters: UserFilters, request: PageRequest) => store.listUsers(filters, request),

    listUserVersions: (filters: UserFilters, request: PageRequest) => store.listUserVersions(filters, request),

    mayReadPrivate,

    /** The name of the caller's view, for list ETags: callers with the same view see the same fields of every user. */
    viewOfUsers(identity: Identity): string {
      if (identity.kind === "anonymous") return "public";
      return hasScope(identity, "users:read:private") ? "private" : `own.${identity.userId}`;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    readPrivate(identity: Identity, user: User): PrivatePart {
      if (mayReadPrivate(identity, user)) return user;
      throw denyAccess(identity, "Only this user, or a caller with the scope users:read:private, may read this field.");
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, the errors of `input`, CONFLICT, and those of the idempotency key (`writeOnce`). */
    async createUser(
      identity: Identity,
      input: () => NewUser,
      options: InputOptions = {},
    ): Promise<IdempotentResult<User>> {
      const { userId } = requireAnyScope(identity, "users:write:all");
      return rejectDuplicateEmail(await store.insertUser(userId, input()), options);
    },

    /**
     * A missing or deactivated account takes precedence over errors in the conditions, and these over errors in the input. The scope for a
     * change of the role is checked last, because the input says whether there is one.
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, the code `deactivatedAs`, PRECONDITION_FAILED, CONFLICT, and the errors of
     * `precondition` and `input`.
     */
    async updateUser(
      identity: Identity,
      id: string,
      input: () => UserChanges,
      options: ChangeOptions = {},
    ): Promise<User> {
      const { precondition = () => anyVersion, deactivatedAs = "INVALID_STATE" } = options;
      requireOwnerOrAll(identity, id);
      const requireChangeable = async (requiredVersions?: Precondition) => {
        const { rowVersion } = requireActive(await findStateBatched(id), deactivatedAs);
        if (requiredVersions && !allowsVersion(requiredVersions, rowVersion)) throw toVersionError("user");
      };
      const { versions, change } = await readChange({ precondition, input }, requireChangeable);
      if (change.role !== undefined) requireAnyScope(identity, "users:write:all");
      const updated = await store.updateUser(id, change, versions);
      if (updated === undefined) throw await explainUnchanged(id, deactivatedAs);
      return rejectDuplicateEmail(updated, options);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async deactivateUser(identity: Identity, id: string): Promise<User> {
      requireOwnerOrAll(identity, id);
      const user = await store.deactivateUser(id);
      if (user === undefined) throw await explainUnchanged(id, "INVALID_STATE");
      return user;
    },
  };

  /** The reason why a change matched no row: throws it for a missing or deactivated account, and returns it for another version. */
  async function explainUnchanged(id: string, deactivatedAs: DeactivatedAs): Promise<AppError> {
    requireActive(await findStateBatched(id), deactivatedAs);
    return toVersionError("user");
  }
}

function toMissingError(): AppError {
  return new AppError("NOT_FOUND", "There is no such user.");
}

function requireActive<T extends UserState>(user: T | undefined, deactivatedAs: DeactivatedAs): T {
  if (user === undefined) throw toMissingError();
  if (user.deactivatedAt === null) return user;
  if (deactivatedAs === "NOT_FOUND") throw toMissingError();
  throw new AppError(deactivatedAs, "This account is deactivated.");
}

function mayReadPrivate(identity: Identity, { id }: UserState): boolean {
  return isUser(identity, id) || hasScope(identity, "users:read:private");
}

function requireOwnerOrAll(identity: Identity, id: string): void {
  requireAnyScope(identity, "users:write", "users:write:all");
  if (isUser(identity, id) || hasScope(identity, "users:write:all")) return;
  throw denyAccess(identity, "Only this user, or a caller with the scope users:write:all, may do this.");
}

/** @param written the result of the store's write. @throws AppError CONFLICT if it is "email-taken". */
function rejectDuplicateEmail<T>(written: T | "email-taken", { emailPointer = "#/email" }: InputOptions): T {
  if (written !== "email-taken") return written;
  const detail = "Another user has this email address.";
  throw new AppError("CONFLICT", detail, { problems: [{ pointer: emailPointer, code: "taken", detail }] });
}
