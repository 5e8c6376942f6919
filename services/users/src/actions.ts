import { readChange } from "@tributary/kit/http/change-order";
import { AppError } from "@tributary/kit/errors/app-error";
import { anyVersion, isMet, type Precondition } from "@tributary/kit/http/etag";
import { type Identity, hasScope, isUser, refuse, requireScope } from "@tributary/kit/identity/tokens";
import { joinLookups } from "@tributary/kit/lists/joined-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import type { NewUser, PrivatePart, User, UserChanges, UserFilters, UserState } from "./model.ts";
import type { UserStore } from "./store.ts";

/** What an account that was given up is to a door: a state, a thing that was there, or nothing, where such accounts are not known. */
export type FormerIs = "INVALID_STATE" | "GONE" | "NOT_FOUND";

interface InputTerms {
  /** Where the caller's input has the address; `#/email` unless said. */
  readonly emailPointer?: string;
}

export interface ChangeTerms extends InputTerms {
  /** What the caller has read; read only once the caller was let in. */
  readonly precondition?: () => Precondition;
  readonly formerIs?: FormerIs;
}

export type UserActions = ReturnType<typeof createUserActions>;

/**
 * What can be done with users, and who may. Both doors come through here. Input comes as a function: it is read only after the caller
 * was let in, so that strangers hear 401 before anything else.
 */
export function createUserActions(store: UserStore) {
  const lookUpState = joinLookups((ids) => store.findUserStates(ids));

  return {
    findUsers: (ids: readonly string[]) => store.findUsers(ids),

    /** @throws AppError NOT_FOUND, and `formerIs` for an account that was given up. */
    async getActiveUser(id: string, formerIs: FormerIs): Promise<User> {
      const [user] = await store.findUsers([id]);
      return requireActive(user, formerIs);
    },

    /** The state of whom `getActiveUser` would find. @throws AppError as it does. */
    async getActiveState(id: string, formerIs: FormerIs): Promise<UserState> {
      return requireActive(await lookUpState(id), formerIs);
    },

    listUsers: (filters: UserFilters, request: PageRequest) => store.listUsers(filters, request),

    listUserVersions: (filters: UserFilters, request: PageRequest) => store.listUserVersions(filters, request),

    mayReadPrivate,

    /** A name for what a caller sees of users: who has the same one sees the same of the same users. */
    viewOfUsers(identity: Identity): string {
      if (identity.kind === "anonymous") return "public";
      return hasScope(identity, "users:read:private") ? "private" : `own.${identity.userId}`;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    readPrivate(identity: Identity, user: User): PrivatePart {
      if (mayReadPrivate(identity, user)) return user;
      throw refuse(identity, "This is private: it is for that user, and for the scope users:read:private.");
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, CONFLICT. */
    async createUser(identity: Identity, input: () => NewUser, terms: InputTerms = {}): Promise<User> {
      requireScope(identity, "users:write:all");
      return unlessTaken(await store.insertUser(input()), terms);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, CONFLICT, NOT_FOUND, PRECONDITION_FAILED, and `formerIs`. */
    async updateUser(identity: Identity, id: string, input: () => UserChanges, terms: ChangeTerms = {}): Promise<User> {
      const { precondition = () => anyVersion, formerIs = "INVALID_STATE" } = terms;
      requireOwnerOrAll(identity, id);
      const { versions, change } = await readChange({ precondition, input }, async (wanted) => {
        const { rowVersion } = requireActive(await lookUpState(id), formerIs);
        if (wanted && !isMet(wanted, rowVersion)) throw changed();
      });
      if (change.role !== undefined) requireScope(identity, "users:write:all");
      const updated = await store.updateUser(id, change, versions);
      if (updated === undefined) throw await whyNotUpdated(id, formerIs);
      return unlessTaken(updated, terms);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async deactivateUser(identity: Identity, id: string): Promise<User> {
      requireOwnerOrAll(identity, id);
      const user = await store.deactivateUser(id);
      if (user === undefined) throw await whyNotUpdated(id, "INVALID_STATE");
      return user;
    },
  };

  async function whyNotUpdated(id: string, formerIs: FormerIs): Promise<AppError> {
    requireActive(await lookUpState(id), formerIs);
    return changed();
  }
}

function changed(): AppError {
  return new AppError("PRECONDITION_FAILED", "The user has changed since you read it. Read it again.");
}

function requireActive<T extends UserState>(user: T | undefined, formerIs: FormerIs): T {
  if (user !== undefined && user.deactivatedAt === null) return user;
  if (user === undefined || formerIs === "NOT_FOUND") throw new AppError("NOT_FOUND", "There is no such user.");
  throw new AppError(formerIs, "This account was given up.");
}

function mayReadPrivate(identity: Identity, { id }: Pick<User, "id">): boolean {
  return isUser(identity, id) || hasScope(identity, "users:read:private");
}

function requireOwnerOrAll(identity: Identity, id: string): void {
  requireScope(identity, "users:write", "users:write:all");
  if (isUser(identity, id) || hasScope(identity, "users:write:all")) return;
  throw refuse(identity, "This is for that user, and for the scope users:write:all.");
}

function unlessTaken(user: User | "email-taken", { emailPointer: pointer = "#/email" }: InputTerms): User {
  if (user !== "email-taken") return user;
  const detail = "Another user has this address.";
  throw new AppError("CONFLICT", detail, { problems: [{ pointer, code: "taken", detail }] });
}
