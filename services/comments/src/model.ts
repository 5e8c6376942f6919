import { isRowId } from "@tributary/kit/postgres/row-id";
import { listOrder, type ListOrder } from "@tributary/kit/lists/list-order";
import { readShape, text } from "@tributary/kit/errors/validate";
import { z } from "zod";

/** What tells one version of a comment from another. */
export interface CommentState {
  readonly id: string;
  readonly createdAt: Date;
  readonly editedAt: Date | null;
  readonly deletedAt: Date | null;
  readonly rowVersion: string;
}

export interface Comment extends CommentState {
  readonly postId: string;
  readonly authorId: string;
  /** Null once deleted. */
  readonly body: string | null;
}

/** A comment that was not deleted. */
export interface LivingComment extends Comment {
  readonly body: string;
  readonly deletedAt: null;
}

/** Another service's entity, of which nothing but the id is known here. */
export interface Reference {
  readonly id: string;
}

export interface CommentFilters {
  readonly postId?: string | undefined;
  readonly authorId?: string | undefined;
  readonly sort?: ListOrder;
}

/** Whose comments a list shows. */
export type Parent = "post" | "author";

/** A part of one parent's comments. */
export interface ListPart {
  readonly parentId: string;
  /** At most this many. */
  readonly limit: number;
  /** The comment after which it begins; null for the beginning. */
  readonly afterId: string | null;
}

/** How long its author may change a comment, from the moment it was written. */
export const editableMs = 15 * 60_000;

export const commentBody = text({ min: 1, max: 5_000, what: "A comment" });

export const commentPostId = z
  .string("A post's id is a text.")
  .refine(isRowId, { error: "There can be no post with this id.", params: { code: "invalid" } });

const newComment = z.strictObject({ postId: commentPostId, body: commentBody });
const commentChange = z.strictObject({ body: commentBody });

const filters = z.strictObject({
  postId: z
    .string()
    .nullish()
    .transform((value) => value ?? undefined),
  authorId: z
    .string()
    .nullish()
    .transform((value) => value ?? undefined),
  sort: listOrder,
});

export type NewComment = z.output<typeof newComment>;
export type CommentChange = z.output<typeof commentChange>;

/** @throws AppError BAD_USER_INPUT with every problem. */
export const readNewComment = (input: unknown): NewComment => readShape(newComment, input);
/** @throws AppError BAD_USER_INPUT with every problem. */
export const readCommentChange = (input: unknown): CommentChange => readShape(commentChange, input);
/** Ids that cannot exist are no problem here: nothing is under them. @throws AppError BAD_USER_INPUT for a sort that there is not. */
export const readCommentFilters = (input: unknown): CommentFilters => readShape(filters, input);

/** Of a living comment: nothing that shows has changed since. */
export function lastModifiedOf({ createdAt, editedAt }: CommentState): Date {
  return editedAt ?? createdAt;
}

export function isLiving(comment: Comment): comment is LivingComment {
  return comment.deletedAt === null;
}
