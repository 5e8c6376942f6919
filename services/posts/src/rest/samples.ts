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

/**
 * Posts with every field set and with every optional field empty. v1.ts and v2.ts convert them once, at start, and every ETag contains a hash
 * of the result. So a release that represents a field differently changes all ETags, and no 304 confirms a body of the previous release.
 */
export const samplePosts: readonly Post[] = [
  publishedPost,
  { ...publishedPost, ...postFields.cleared, text: null, status: "DRAFT", publishedAt: null },
];
