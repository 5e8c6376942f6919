import { AppError } from "@tributary/kit/errors/app-error";
import { allowsVersion, anyVersion, type Precondition, toVersionError } from "@tributary/kit/http/etag";
import { readChange } from "@tributary/kit/http/requested-change";
import type { IdempotentResult } from "@tributary/kit/idempotency/idempotency";
import { type Identity, isUser, requireAnyScope } from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
import type { NewSpareGadget, SpareGadget, SpareGadgetChange, SpareGadgetState } from "./model.ts";
import type { Store } from "./store.ts";

export type Actions = ReturnType<typeof createActions>;

/**
 * Who may do what, for both endpoints. Input is a function that is called only after the scope check, so that a caller without the scope gets
 * 401 or 403, not an error in the input.
 */
export function createActions(store: Store) {
  // Concurrent requests share one statement. Nothing is cached.
  const findStateBatched = batchLookups((ids) => store.findStates(ids));

  return {
    findByIds: (ids: readonly string[]) => store.findByIds(ids),
    list: store.list,
    listVersions: store.listVersions,
    // BEGIN parent
    listPagesOfParents: store.listPagesOfParents,
    // END parent

    /** @throws AppError NOT_FOUND. */
    getOne: (id: string): Promise<SpareGadget> => requireExisting(id),

    async getState(id: string): Promise<SpareGadgetState> {
      const state = await findStateBatched(id);
      if (state === undefined) throw toMissingError();
      return state;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, the errors of `input`, then those of the idempotency key (`writeOnce`). */
    async create(identity: Identity, input: () => NewSpareGadget): Promise<IdempotentResult<SpareGadget>> {
      const { userId } = requireAnyScope(identity, "gadget-shop:write");
      return store.insertRow(input(), userId);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, and the errors of `precondition` and `input`. */
    async change(
      identity: Identity,
      id: string,
      input: () => SpareGadgetChange,
      precondition: () => Precondition = () => anyVersion,
    ): Promise<SpareGadget> {
      const { userId } = requireAnyScope(identity, "gadget-shop:write");
      const requireChangeable = (versions?: Precondition) => requireWritable(identity, id, versions);
      const { versions, change } = await readChange({ precondition, input }, requireChangeable);
      const changed = await store.updateRow(id, change, { authorId: userId, versions });
      if (changed !== undefined) return changed;
      // Throws the reason why no row matched, unless only the version differs.
      await requireChangeable();
      throw toVersionError("spare gadget");
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, and the errors of `precondition`. */
    async delete(
      identity: Identity,
      id: string,
      precondition: () => Precondition = () => anyVersion,
      unmodifiedSince?: Date,
    ): Promise<SpareGadget> {
      const { userId } = requireAnyScope(identity, "gadget-shop:write");
      const deleted = await store.deleteRow(id, { authorId: userId, versions: precondition(), unmodifiedSince });
      if (deleted !== undefined) return deleted;
      // Throws the reason why no row matched, unless only the version differs.
      await requireWritable(identity, id);
      throw toVersionError("spare gadget");
    },
  };

  async function requireExisting(id: string): Promise<SpareGadget> {
    const [existing] = await store.findByIds([id]);
    if (existing === undefined) throw toMissingError();
    return existing;
  }

  /** @param versions undefined: the version is not checked. */
  async function requireWritable(identity: Identity, id: string, versions?: Precondition): Promise<void> {
    const { authorId, rowVersion } = await requireExisting(id);
    if (!isUser(identity, authorId)) {
      throw new AppError("FORBIDDEN", "Only the author of the spare gadget may change or delete it.");
    }
    if (versions && !allowsVersion(versions, rowVersion)) throw toVersionError("spare gadget");
  }
}

function toMissingError(): AppError {
  return new AppError("NOT_FOUND", "There is no such spare gadget.");
}
