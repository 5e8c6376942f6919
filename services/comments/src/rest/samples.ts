import type { VisibleComment } from "../model.ts";

const date = new Date("2026-01-02T03:04:05.678Z");

const editedComment: VisibleComment = {
  id: "1",
  postId: "2",
  authorId: "3",
  body: "A body",
  createdAt: date,
  editedAt: date,
  deletedAt: null,
  rowVersion: "1",
};

/** Comments with every field set and with every optional field empty. ETags contain a hash of their JSON, so that they change with it. */
export const sampleComments: readonly VisibleComment[] = [editedComment, { ...editedComment, editedAt: null }];
