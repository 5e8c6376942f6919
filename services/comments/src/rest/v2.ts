import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { commentFields, type VisibleComment } from "../model.ts";
import { readCommentChangeV2, readNewCommentV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { sampleComments } from "./samples.ts";
import type { CommentV2 } from "./schemas.ts";

const toCommentV2 = respondsWith<CommentV2>()((comment: VisibleComment) => ({
  id: comment.id,
  postId: comment.postId,
  authorId: comment.authorId,
  body: comment.body,
  ...commentFields.of(comment),
  createdAt: comment.createdAt.toISOString(),
  editedAt: comment.editedAt?.toISOString() ?? null,
}));

export const version2: RestVersion = {
  projection: createProjection(2, sampleComments.map(toCommentV2)),
  deletedAs: "GONE",
  toJson: toCommentV2,
  readNewComment: readNewCommentV2,
  readCommentChange: readCommentChangeV2,
};
