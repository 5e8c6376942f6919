import { type Post, postFields } from "../model.ts";

const date = new Date("2026-01-02T03:04:05.678Z");

const publishedPost: Post = {
  id: "1",
  authorId: "2",
  ...postFields.examples,
  text: "A text",
  format: "MARKDOWN",
  status: "PUBLISHED",
  createdAt: date,
  updatedAt: date,
  publishedAt: date,
  rowVersion: "1",
};

/** With every field set and with every optional one empty. A release that represents a field differently changes the hash in all ETags. */
export const samplePosts: readonly Post[] = [
  publishedPost,
  { ...publishedPost, ...postFields.cleared, text: null, status: "DRAFT", publishedAt: null },
];
