import { createProjection } from "@tributary/kit/http/etag";
import type { VisibleComment } from "../model.ts";
import { readCommentChangeV2, readNewCommentV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleComments } from "./samples.ts";

/** A comment in version 2. */
interface CommentV2 {
  readonly id: string;
  readonly postId: string;
  readonly authorId: string;
  readonly body: string;
  readonly createdAt: string;
  readonly editedAt: string | null;
}

function toCommentV2(comment: VisibleComment): CommentV2 {
  return {
    id: comment.id,
    postId: comment.postId,
    authorId: comment.authorId,
    body: comment.body,
    createdAt: comment.createdAt.toISOString(),
    editedAt: comment.editedAt?.toISOString() ?? null,
  };
}

export const version2: RestVersion = {
  projection: createProjection(2, sampleComments.map(toCommentV2)),
  deletedAs: "GONE",
  toJson: toCommentV2,
  readNewComment: readNewCommentV2,
  readCommentChange: readCommentChangeV2,
};
