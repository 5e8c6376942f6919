import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { contentOf, type Post, postFields } from "../model.ts";
import { readNewPostV2, readPostChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { samplePosts } from "./samples.ts";
import type { PostV2 } from "./schemas.ts";

const toPostV2 = respondsWith<PostV2>()((post: Post) => ({
  id: post.id,
  ...postFields.of(post),
  status: post.status,
  content: contentOf(post),
  author: { id: post.authorId, href: `/v2/users/${post.authorId}` },
  createdAt: post.createdAt.toISOString(),
  updatedAt: post.updatedAt.toISOString(),
  publishedAt: post.publishedAt?.toISOString() ?? null,
}));

export const version2: RestVersion = {
  projection: createProjection(2, samplePosts.map(toPostV2)),
  toJson: toPostV2,
  readNewPost: readNewPostV2,
  readPostChanges: readPostChangesV2,
};
