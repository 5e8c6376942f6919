import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type Post, postFields } from "../model.ts";
import { readNewPostV1, readPostChangesV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { samplePosts } from "./samples.ts";
import type { PostV1 } from "./schemas.ts";

const toPostV1 = respondsWith<PostV1>()((post: Post) => ({
  id: post.id,
  ...postFields.of(post),
  body: post.text,
  published: post.status === "PUBLISHED",
  authorId: post.authorId,
  createdAt: post.createdAt.toISOString(),
  updatedAt: post.updatedAt.toISOString(),
  publishedAt: post.publishedAt?.toISOString() ?? null,
}));

export const version1: RestVersion = {
  projection: createProjection(1, samplePosts.map(toPostV1)),
  toJson: toPostV1,
  readNewPost: readNewPostV1,
  readPostChanges: readPostChangesV1,
};
