import { readChange } from "@tributary/kit/http/change-order";
import { AppError } from "@tributary/kit/errors/app-error";
import { anyVersion, isMet, type Precondition } from "@tributary/kit/http/etag";
import { hasScope, type Identity, isUser, requireScope } from "@tributary/kit/identity/tokens";
import { joinLookups } from "@tributary/kit/lists/joined-lookup";
import type { PageRequest } from "@tributary/kit/lists/keyset";
import {
  type Comment,
  type CommentChange,
  type CommentFilters,
  type CommentState,
  editableMs,
  isLiving,
  type ListPart,
  type LivingComment,
  type NewComment,
  type Parent,
} from "./model.ts";
import type { CommentStore } from "./store.ts";

export type CommentActions = ReturnType<typeof createCommentActions>;

export interface CommentDeps {
  readonly store: CommentStore;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** What a deleted comment is at a door that shows no tombstones: nothing, as in version 1 of REST, or what there was, as from version 2. */
export type Absence = "NOT_FOUND" | "GONE";

/** What a door says about a change: which version it is for, and what a deleted comment is there. */
export interface ChangeTerms {
  readonly precondition?: () => Precondition;
  /** The graph shows tombstones, so that deleting twice is a state that does not allow it. */
  readonly deletedIs?: "INVALID_STATE" | Absence;
}

export interface DeletionTerms extends ChangeTerms {
  /** It has not been written or edited in a later second than this one. */
  readonly unmodifiedSince?: Date | undefined;
}

/**
 * What can be done with comments, and who may. Both doors come through here. Input comes as a function: it is read only after the
 * caller was let in. A change is decided by one statement; only when it did not happen is it asked why.
 */
export function createCommentActions({ store, clock = Date.now }: CommentDeps) {
  const lookUpState = joinLookups((ids) => store.findCommentStates(ids));

  return {
    findComments: (ids: readonly string[]) => store.findComments(ids),

    /** @throws AppError NOT_FOUND, GONE. */
    async getLiving(id: string, deletedIs: Absence): Promise<LivingComment> {
      const [comment] = await store.findComments([id]);
      if (comment === undefined) throw missing();
      if (!isLiving(comment)) throw absent(deletedIs);
      return comment;
    },

    /**
     * As much of what `getLiving` finds as tells its version.
     * @throws AppError NOT_FOUND, GONE.
     */
    async getLivingState(id: string, deletedIs: Absence): Promise<CommentState> {
      const state = await lookUpState(id);
      if (state === undefined) throw missing();
      if (state.deletedAt !== null) throw absent(deletedIs);
      return state;
    },

    listComments: (filters: CommentFilters, request: PageRequest) => store.listComments(filters, request),
    listLiving: (filters: CommentFilters, request: PageRequest) => store.listLiving(filters, request),
    listLivingVersions: (filters: CommentFilters, request: PageRequest) => store.listLivingVersions(filters, request),
    listParts: (parent: Parent, parts: readonly ListPart[]) => store.listParts(parent, parts),
    countLiving: (postIds: readonly string[]) => store.countLiving(postIds),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT. */
    async addComment(identity: Identity, input: () => NewComment): Promise<LivingComment> {
      const { userId } = requireScope(identity, "comments:write");
      return store.insertComment(input(), userId);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT, NOT_FOUND, GONE, INVALID_STATE, PRECONDITION_FAILED. */
    async editComment(
      identity: Identity,
      id: string,
      input: () => CommentChange,
      { precondition = () => anyVersion, deletedIs = "INVALID_STATE" }: ChangeTerms = {},
    ): Promise<LivingComment> {
      const { userId } = requireScope(identity, "comments:write");
      const writtenSince = new Date(clock() - editableMs);
      const requireEditable = async (wanted?: Precondition) => {
        requireEdit(await requireExisting(id, deletedIs), { identity, writtenSince, wanted });
      };
      const { versions, change } = await readChange({ precondition, input }, requireEditable);
      const edited = await store.editComment(id, { ...change, authorId: userId, writtenSince, versions });
      if (edited !== undefined) return edited;
      await requireEditable();
      throw changed();
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, GONE, INVALID_STATE, PRECONDITION_FAILED. */
    async deleteComment(
      identity: Identity,
      id: string,
      { precondition = () => anyVersion, unmodifiedSince, deletedIs = "INVALID_STATE" }: DeletionTerms = {},
    ): Promise<Comment> {
      const { userId } = requireScope(identity, "comments:write", "comments:write:all");
      const mayAny = hasScope(identity, "comments:write:all");
      const authorId = mayAny ? null : userId;
      const removed = await store.deleteComment(id, { authorId, versions: precondition(), unmodifiedSince });
      if (removed !== undefined) return removed;
      const comment = await requireExisting(id, deletedIs);
      if (!mayAny && !isUser(identity, comment.authorId)) {
        throw new AppError("FORBIDDEN", "This is for its author, and for the scope comments:write:all.");
      }
      throw isLiving(comment) ? changed() : deleted();
    },
  };

  async function requireExisting(id: string, deletedIs: "INVALID_STATE" | Absence): Promise<Comment> {
    const [comment] = await store.findComments([id]);
    if (comment === undefined) throw missing();
    if (!isLiving(comment) && deletedIs !== "INVALID_STATE") throw absent(deletedIs);
    return comment;
  }
}

interface Edit {
  readonly identity: Identity;
  readonly writtenSince: Date;
  readonly wanted: Precondition | undefined;
}

function requireEdit(comment: Comment, { identity, writtenSince, wanted }: Edit): void {
  if (!isUser(identity, comment.authorId)) throw new AppError("FORBIDDEN", "A comment is changed by its author alone.");
  if (!isLiving(comment)) throw deleted();
  if (comment.createdAt < writtenSince) {
    throw new AppError("INVALID_STATE", "A comment can be changed for 15 minutes. These are over.");
  }
  if (wanted && !isMet(wanted, comment.rowVersion)) throw changed();
}

function missing(): AppError {
  return new AppError("NOT_FOUND", "There is no such comment.");
}

function absent(deletedIs: Absence): AppError {
  return deletedIs === "GONE" ? new AppError("GONE", "This comment was deleted.") : missing();
}

function deleted(): AppError {
  return new AppError("INVALID_STATE", "This comment was deleted.");
}

function changed(): AppError {
  return new AppError("PRECONDITION_FAILED", "The comment has changed since you read it. Read it again.");
}
