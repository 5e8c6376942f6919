import { createProjection } from "@tributary/kit/http/etag";
import { type Content, contentOf, type Post, type PostStatus } from "../model.ts";
import { readNewPostV2, readPostChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { samplePosts } from "./samples.ts";

/** A post in version 2. */
interface PostV2 {
  readonly id: string;
  readonly title: string;
  readonly status: PostStatus;
  /** Null while the post has no text. */
  readonly content: Content | null;
  readonly author: { readonly id: string; readonly href: string };
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
}

function toPostV2(post: Post): PostV2 {
  return {
    id: post.id,
    title: post.title,
    status: post.status,
    content: contentOf(post),
    author: { id: post.authorId, href: `/v2/users/${post.authorId}` },
    createdAt: post.createdAt.toISOString(),
    updatedAt: post.updatedAt.toISOString(),
    publishedAt: post.publishedAt?.toISOString() ?? null,
  };
}

export const version2: RestVersion = {
  projection: createProjection(2, samplePosts.map(toPostV2)),
  toJson: toPostV2,
  readNewPost: readNewPostV2,
  readPostChanges: readPostChangesV2,
};
