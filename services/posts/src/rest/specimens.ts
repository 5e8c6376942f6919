import type { Post } from "../model.ts";

const moment = new Date("2026-01-02T03:04:05.678Z");

const written: Post = {
  id: "1",
  authorId: "2",
  title: "A title",
  text: "A text",
  format: "MARKDOWN",
  status: "PUBLISHED",
  createdAt: moment,
  updatedAt: moment,
  publishedAt: moment,
  rowVersion: "1",
};

/** Posts with each field filled and empty: what a version of the door makes of them tells it from what it made before. */
export const specimens: readonly Post[] = [written, { ...written, text: null, status: "DRAFT", publishedAt: null }];
