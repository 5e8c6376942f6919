// Version 1 of the REST representation of posts: its bodies and what else differs from the other version. rest.ts has the handlers of both.
import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type Post, postFields } from "../model.ts";
import { readNewPostV1, readPostChangesV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { samplePosts } from "./samples.ts";
import type { PostV1 } from "./schemas.ts";

/** `respondsWith` compares the members with the OpenAPI schema at compile time. */
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
  // Part of each ETag of this version. It changes when the code writes the samples differently.
  projection: createProjection(1, samplePosts.map(toPostV1)),
  toJson: toPostV1,
  readNewPost: readNewPostV1,
  readPostChanges: readPostChangesV1,
};
