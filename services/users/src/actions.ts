import { AppError } from "@tributary/kit/errors";
import type { Precondition } from "@tributary/kit/etag";
import { type Identity, hasScope, isUser, refuse, requireScope } from "@tributary/kit/identity";
import type { PageRequest } from "@tributary/kit/keyset";
import type { NewUser, PrivatePart, User, UserChanges, UserFilters } from "./model.ts";
import type { UserStore } from "./store.ts";

export interface ChangeTerms {
  /** What the caller has read; read only once the caller was let in. */
  readonly precondition?: () => Precondition;
  /** What an account that was given up is: a state, or nothing at all for a door that does not know such accounts. */
  readonly formerIs?: "INVALID_STATE" | "NOT_FOUND";
}

export type UserActions = ReturnType<typeof createUserActions>;

/**
 * What can be done with users, and who may. Both doors come through here. Input comes as a function: it is read only after the caller
 * was let in, so that strangers hear 401 before anything else.
 */
export function createUserActions(store: UserStore) {
  return {
    findUsers: (ids: readonly string[]) => store.findUsers(ids),

    async findUser(id: string): Promise<User | undefined> {
      const [user] = await store.findUsers([id]);
      return user;
    },

    listUsers: (filters: UserFilters, request: PageRequest) => store.listUsers(filters, request),

    mayReadPrivate,

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN. */
    readPrivate(identity: Identity, user: User): PrivatePart {
      if (mayReadPrivate(identity, user)) return user;
      throw refuse(identity, "This is private: it is for that user, and for the scope users:read:private.");
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, CONFLICT. */
    async createUser(identity: Identity, input: () => NewUser): Promise<User> {
      requireScope(identity, "users:write:all");
      return unlessTaken(await store.insertUser(input()));
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, CONFLICT, NOT_FOUND, INVALID_STATE, PRECONDITION_FAILED. */
    async updateUser(
      identity: Identity,
      id: string,
      input: () => UserChanges,
      { precondition = () => "any", formerIs = "INVALID_STATE" }: ChangeTerms = {},
    ): Promise<User> {
      requireOwnerOrAll(identity, id);
      const versions = precondition();
      const changes = input();
      if (changes.role !== undefined) requireScope(identity, "users:write:all");
      const updated = await store.updateUser(id, changes, versions);
      if (updated === undefined) throw await whyNotUpdated(id, formerIs);
      return unlessTaken(updated);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    async deactivateUser(identity: Identity, id: string): Promise<User> {
      requireOwnerOrAll(identity, id);
      const user = await store.deactivateUser(id);
      if (user === undefined) throw await whyNotUpdated(id, "INVALID_STATE");
      return user;
    },
  };

  async function whyNotUpdated(id: string, formerIs: "INVALID_STATE" | "NOT_FOUND"): Promise<AppError> {
    const [user] = await store.findUsers([id]);
    const isFormer = user !== undefined && user.deactivatedAt !== null;
    if (user === undefined || (isFormer && formerIs === "NOT_FOUND")) {
      return new AppError("NOT_FOUND", "There is no such user.");
    }
    if (isFormer) return new AppError("INVALID_STATE", "This account was given up.");
    return new AppError("PRECONDITION_FAILED", "The user has changed since you read it. Read it again.");
  }
}

function mayReadPrivate(identity: Identity, user: User): boolean {
  return isUser(identity, user.id) || hasScope(identity, "users:read:private");
}

function requireOwnerOrAll(identity: Identity, id: string): void {
  requireScope(identity, "users:write", "users:write:all");
  if (isUser(identity, id) || hasScope(identity, "users:write:all")) return;
  throw refuse(identity, "This is for that user, and for the scope users:write:all.");
}

function unlessTaken(user: User | "email-taken"): User {
  if (user !== "email-taken") return user;
  const detail = "Another user has this address.";
  throw new AppError("CONFLICT", detail, { problems: [{ pointer: "#/email", code: "taken", detail }] });
}
