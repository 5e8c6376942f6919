import { createProjection } from "@tributary/kit/http/etag";
import type { VisibleComment } from "../model.ts";
import { readCommentChangeV1, readNewCommentV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleComments } from "./samples.ts";

/** A comment in version 1. */
interface CommentV1 {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly text: string;
  readonly createdAt: string;
  readonly editedAt: string | null;
}

function toCommentV1(comment: VisibleComment): CommentV1 {
  return {
    id: comment.id,
    postId: comment.postId,
    authorId: comment.authorId,
    text: comment.body,
    createdAt: comment.createdAt.toISOString(),
    editedAt: comment.editedAt?.toISOString() ?? null,
  };
}

export const version1: RestVersion = {
  projection: createProjection(1, sampleComments.map(toCommentV1)),
  deletedAs: "NOT_FOUND",
  toJson: toCommentV1,
  readNewComment: readNewCommentV1,
  readCommentChange: readCommentChangeV1,
};
