import { isRowId } from "@tributary/kit/postgres/row-id";
import { defineFields, type ValuesOf } from "@tributary/kit/fields/fields";
import { idempotencyKeyInput } from "@tributary/kit/idempotency/idempotency-key";
import { listOrder, type ListOrder, optionalFilter } from "@tributary/kit/lists/list-order";
import { parseShape, text } from "@tributary/kit/errors/validate";
import { z } from "zod";

/** The fields with one name in the graph and in both REST versions; none yet. CONTRIBUTING.md, "Add a field". */
export const commentFields = defineFields({});

/** The fields of a comment that its visibility, its ETag and its Last-Modified depend on. */
export interface CommentState {
  readonly id: string;
  readonly createdAt: Date;
  readonly editedAt: Date | null;
  readonly deletedAt: Date | null;
  readonly rowVersion: string;
}

export interface Comment extends CommentState, ValuesOf<typeof commentFields> {
  readonly postId: string;
  readonly authorId: string;
  /** Null if the comment is deleted. */
  readonly body: string | null;
}

/** A comment that is not deleted. REST shows only these; GraphQL also shows deleted ones, as tombstones without a body. */
export interface VisibleComment extends Comment {
  readonly body: string;
  readonly deletedAt: null;
}

export interface Reference {
  readonly id: string;
}

export interface CommentFilters {
  readonly postId?: string | undefined;
  readonly authorId?: string | undefined;
  readonly sort?: ListOrder;
}

/** The entity that a list of comments belongs to. */
export type Parent = "post" | "author";

/** The first `limit` comments of one post or author after a comment id, newest first. */
export interface ParentPageRequest {
  readonly parentId: string;
  /** 1 to 101: connections request one comment more, to find out whether there is a next page. */
  readonly limit: number;
  /** The id of the last comment of the previous page; null for the first page. After a malformed id the page is empty. */
  readonly afterId: string | null;
}

/** How long after its creation an author may change a comment. */
export const editableMs = 15 * 60_000;

export const commentBody = text({ min: 1, max: 5_000, what: "A comment" });

export const commentPostId = z
  .string("A post's id is a string.")
  .refine(isRowId, { error: "This is not a valid post id.", params: { code: "invalid" } });

export const newComment = z.strictObject({ postId: commentPostId, body: commentBody, ...commentFields.created });
const addCommentInput = newComment.extend({ idempotencyKey: idempotencyKeyInput });
export const commentChange = z.strictObject({ body: commentBody, ...commentFields.changed });

const filters = z.strictObject({
  postId: optionalFilter(z.string()),
  authorId: optionalFilter(z.string()),
  sort: listOrder,
});

export interface NewComment extends z.output<typeof newComment> {
  /** Without a key a repeated request adds another comment. */
  readonly idempotencyKey?: string | undefined;
}
export type CommentChange = z.output<typeof commentChange>;

/** Reads GraphQL input; rest/read.ts reads REST bodies. @throws AppError BAD_USER_INPUT with every problem. */
export const readNewComment = (input: unknown): NewComment => parseShape(addCommentInput, input);
/** Reads GraphQL input and bodies of REST version 2; rest/read.ts reads version 1. @throws AppError BAD_USER_INPUT with every problem. */
export const readCommentChange = (input: unknown): CommentChange => parseShape(commentChange, input);
/** A malformed id is accepted: its list is empty. @throws AppError BAD_USER_INPUT for an unknown sort order. */
export const readCommentFilters = (input: unknown): CommentFilters => parseShape(filters, input);

/** When the body of a comment last changed. A deletion does not count: REST shows no deleted comments. */
export function lastModifiedOf({ createdAt, editedAt }: CommentState): Date {
  return editedAt ?? createdAt;
}

export function isVisible(comment: Comment): comment is VisibleComment {
  return comment.deletedAt === null;
}
