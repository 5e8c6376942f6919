import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { commentFields, type VisibleComment } from "../model.ts";
import { readCommentChangeV1, readNewCommentV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleComments } from "./samples.ts";
import type { CommentV1 } from "./schemas.ts";

const toCommentV1 = respondsWith<CommentV1>()((comment: VisibleComment) => ({
  id: comment.id,
  postId: comment.postId,
  authorId: comment.authorId,
  text: comment.body,
  ...commentFields.of(comment),
  createdAt: comment.createdAt.toISOString(),
  editedAt: comment.editedAt?.toISOString() ?? null,
}));

export const version1: RestVersion = {
  projection: createProjection(1, sampleComments.map(toCommentV1)),
  // A deleted comment is 404 in version 1, 410 in version 2.
  deletedAs: "NOT_FOUND",
  toJson: toCommentV1,
  readNewComment: readNewCommentV1,
  readCommentChange: readCommentChangeV1,
};
