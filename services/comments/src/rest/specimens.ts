import type { LivingComment } from "../model.ts";

const moment = new Date("2026-01-02T03:04:05.678Z");

const edited: LivingComment = {
  id: "1",
  postId: "2",
  authorId: "3",
  body: "A body",
  createdAt: moment,
  editedAt: moment,
  deletedAt: null,
  rowVersion: "1",
};

/** Comments with each field filled and empty: what a version of the door makes of them tells it from what it made before. */
export const specimens: readonly LivingComment[] = [edited, { ...edited, editedAt: null }];
