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

/** With every field set and with every optional one empty. A release that represents a field differently changes the hash in all ETags. */
export const sampleComments: readonly VisibleComment[] = [
  editedComment,
  { ...editedComment, ...commentFields.cleared, editedAt: null },
];
