import { requireBody } from "@tributary/kit/rest/body";
import { parseShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import {
  commentBody,
  type commentChange,
  type CommentChange,
  commentFields,
  commentPostId,
  type NewComment,
  newComment,
  readCommentChange,
} from "../model.ts";

/** Version 1 has the body as `text`, and problems point to that name. */
const newCommentV1 = z.strictObject({ postId: commentPostId, text: commentBody, ...commentFields.created });
const commentChangeV1 = z.strictObject({ text: commentBody, ...commentFields.changed });

export type NewCommentV1 = z.input<typeof newCommentV1>;
export type CommentChangeV1 = z.input<typeof commentChangeV1>;
/** Version 2 has the field names of the model. */
export type NewCommentV2 = z.input<typeof newComment>;
export type CommentChangeV2 = z.input<typeof commentChange>;

/** @throws AppError BAD_USER_INPUT with every problem. */
export function readNewCommentV1(body: unknown): NewComment {
  const { text, ...fields } = parseShape(newCommentV1, requireBody(body));
  return { body: text, ...fields };
}

/** A merge patch (RFC 7396) with `text`. @throws AppError BAD_USER_INPUT with every problem. */
export function readCommentChangeV1(body: unknown): CommentChange {
  const { text, ...fields } = parseShape(commentChangeV1, requireBody(body));
  return { body: text, ...fields };
}

/** @throws AppError BAD_USER_INPUT with every problem. */
export const readNewCommentV2 = (body: unknown): NewComment => parseShape(newComment, requireBody(body));

/** A merge patch (RFC 7396) with `body`. @throws AppError BAD_USER_INPUT with every problem. */
export const readCommentChangeV2 = (body: unknown): CommentChange => readCommentChange(requireBody(body));
