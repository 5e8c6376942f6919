import { readChange } from "@tributary/kit/http/requested-change";
import { AppError } from "@tributary/kit/errors/app-error";
import type { IdempotentResult } from "@tributary/kit/idempotency/idempotency";
import { anyVersion, allowsVersion, type Precondition, toVersionError } from "@tributary/kit/http/etag";
import { hasScope, type Identity, isUser, requireAnyScope } from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import {
  type Comment,
  type CommentChange,
  type CommentFilters,
  type CommentState,
  editableMs,
  isVisible,
  type ParentPageRequest,
  type NewComment,
  type Parent,
  type VisibleComment,
} from "./model.ts";
import type { CommentStore } from "./store.ts";

export type CommentActions = ReturnType<typeof createCommentActions>;

export interface CommentDeps {
  readonly store: CommentStore;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/** REST shows no tombstones (comments without a body): NOT_FOUND in version 1, GONE in version 2. */
export type DeletedAs = "NOT_FOUND" | "GONE";

export interface ChangeOptions {
  /** Reads the conditions of the request; called only after the scope check. */
  readonly precondition?: () => Precondition;
  /** The error code for a deleted comment. INVALID_STATE is for GraphQL, which shows tombstones. */
  readonly deletedAs?: "INVALID_STATE" | DeletedAs;
}

export interface DeletionOptions extends ChangeOptions {
  /** The comment must not have been created or edited in a later second (If-Unmodified-Since). */
  readonly unmodifiedSince?: Date | undefined;
}

const deletionForbidden = "Only the comment's author, or a caller with the scope comments:write:all, may delete it.";

/**
 * The operations on comments, with their authorization rules, for both endpoints. Everyone may read comments. Input is a function that is
 * called only after the scope check, so that a caller without the scope gets 401 or 403, not an error in the input. One statement then
 * checks all other conditions of a change (author, age, version) and makes it; if it matches no row, a second one finds the reason.
 */
export function createCommentActions({ store, clock = Date.now }: CommentDeps) {
  // Concurrent requests share one statement. Nothing is cached.
  const findStateBatched = batchLookups((ids) => store.findCommentStates(ids));

  return {
    findComments: (ids: readonly string[]) => store.findComments(ids),

    /** @throws AppError NOT_FOUND, GONE. */
    async getComment(id: string, deletedAs: DeletedAs): Promise<VisibleComment> {
      const [comment] = await store.findComments([id]);
      if (comment === undefined) throw toMissingError();
      if (!isVisible(comment)) throw toAbsentError(deletedAs);
      return comment;
    },

    /** @throws AppError as `getComment`. */
    async getCommentState(id: string, deletedAs: DeletedAs): Promise<CommentState> {
      const state = await findStateBatched(id);
      if (state === undefined) throw toMissingError();
      if (state.deletedAt !== null) throw toAbsentError(deletedAs);
      return state;
    },

    /** Includes deleted comments; their `body` is null. */
    listComments: (filters: CommentFilters, request: PageRequest) => store.listComments(filters, request),
    /** Only comments that are not deleted. */
    listVisible: (filters: CommentFilters, request: PageRequest) => store.listVisible(filters, request),
    listVisibleVersions: (filters: CommentFilters, request: PageRequest) => store.listVisibleVersions(filters, request),
    /** Includes deleted comments. The result has one page per request, in the same sequence. */
    listPagesOfParents: (parent: Parent, requests: readonly ParentPageRequest[]) =>
      store.listPagesOfParents(parent, requests),
    countVisible: (postIds: readonly string[]) => store.countVisible(postIds),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, the errors of `input`, then those of the idempotency key (`writeOnce`). */
    async addComment(identity: Identity, input: () => NewComment): Promise<IdempotentResult<VisibleComment>> {
      const { userId } = requireAnyScope(identity, "comments:write");
      return store.insertComment(input(), userId);
    },

    /**
     * Only the author may edit a comment, within `editableMs` of its creation. A comment that the caller may not edit takes precedence over
     * errors in the conditions and in the input.
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE, the code `deletedAs`, PRECONDITION_FAILED, and the errors of
     * `precondition` and `input`.
     */
    async editComment(
      identity: Identity,
      id: string,
      input: () => CommentChange,
      { precondition = () => anyVersion, deletedAs = "INVALID_STATE" }: ChangeOptions = {},
    ): Promise<VisibleComment> {
      const { userId } = requireAnyScope(identity, "comments:write");
      const writtenSince = new Date(clock() - editableMs);
      const requireEditable = async (requiredVersions?: Precondition) => {
        const comment = await requireExisting(id, deletedAs);
        requireMayEdit(comment, { identity, writtenSince, precondition: requiredVersions });
      };
      const { versions, change } = await readChange({ precondition, input }, requireEditable);
      const edited = await store.editComment(id, change, { authorId: userId, writtenSince, versions });
      if (edited !== undefined) return edited;
      // Throws the reason why no row matched, unless only the version differs.
      await requireEditable();
      throw toVersionError("comment");
    },

    /**
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, the code `deletedAs`, PRECONDITION_FAILED, and the errors of `precondition`.
     */
    async deleteComment(
      identity: Identity,
      id: string,
      { precondition = () => anyVersion, unmodifiedSince, deletedAs = "INVALID_STATE" }: DeletionOptions = {},
    ): Promise<Comment> {
      const { userId } = requireAnyScope(identity, "comments:write", "comments:write:all");
      const mayDeleteAny = hasScope(identity, "comments:write:all");
      const authorId = mayDeleteAny ? null : userId;
      const deleted = await store.deleteComment(id, { authorId, versions: precondition(), unmodifiedSince });
      if (deleted !== undefined) return deleted;
      // The reason why no row matched.
      const comment = await requireExisting(id, deletedAs);
      const mayDelete = mayDeleteAny || isUser(identity, comment.authorId);
      if (!mayDelete) throw new AppError("FORBIDDEN", deletionForbidden);
      throw isVisible(comment) ? toVersionError("comment") : toDeletedError();
    },
  };

  /** Returns a tombstone only for INVALID_STATE: the caller's permission is then checked before the deletion is reported. */
  async function requireExisting(id: string, deletedAs: "INVALID_STATE" | DeletedAs): Promise<Comment> {
    const [comment] = await store.findComments([id]);
    if (comment === undefined) throw toMissingError();
    if (!isVisible(comment) && deletedAs !== "INVALID_STATE") throw toAbsentError(deletedAs);
    return comment;
  }
}

interface EditCheck {
  readonly identity: Identity;
  /** The comment must have been created at this time or later. */
  readonly writtenSince: Date;
  /** Undefined: the version is not checked. */
  readonly precondition: Precondition | undefined;
}

function requireMayEdit(comment: Comment, { identity, writtenSince, precondition }: EditCheck): void {
  if (!isUser(identity, comment.authorId)) throw new AppError("FORBIDDEN", "Only the comment's author may change it.");
  if (!isVisible(comment)) throw toDeletedError();
  if (comment.createdAt < writtenSince) {
    throw new AppError("INVALID_STATE", "A comment can be changed only within 15 minutes of its creation.");
  }
  if (precondition && !allowsVersion(precondition, comment.rowVersion)) throw toVersionError("comment");
}

function toMissingError(): AppError {
  return new AppError("NOT_FOUND", "There is no such comment.");
}

function toAbsentError(deletedAs: DeletedAs): AppError {
  return deletedAs === "GONE" ? new AppError("GONE", "This comment was deleted.") : toMissingError();
}

function toDeletedError(): AppError {
  return new AppError("INVALID_STATE", "This comment was deleted.");
}
