import { commentFields, type VisibleComment } from "../model.ts";

const date = new Date("2026-01-02T03:04:05.678Z");

const editedComment: VisibleComment = {
  id: "1",
  postId: "2",
  authorId: "3",
  body: "A body",
  ...commentFields.examples,
  createdAt: date,
  editedAt: date,
  deletedAt: null,
  rowVersion: "1",
};

/**
 * Comments with every field set and with every optional field empty. v1.ts and v2.ts convert them once, at start, and every ETag contains a hash
 * of the result. So a release that represents a field differently changes all ETags, and no 304 confirms a body of the previous release.
 */
export const sampleComments: readonly VisibleComment[] = [
  editedComment,
  { ...editedComment, ...commentFields.cleared, editedAt: null },
];
