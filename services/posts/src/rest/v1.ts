import { createProjection } from "@tributary/kit/http/etag";
import type { Post } from "../model.ts";
import { readNewPostV1, readPostChangesV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { samplePosts } from "./samples.ts";

/** A post in version 1. */
interface PostV1 {
  readonly id: string;
  readonly title: string;
  readonly body: string | null;
  readonly published: boolean;
  readonly authorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
}

function toPostV1(post: Post): PostV1 {
  return {
    id: post.id,
    title: post.title,
    body: post.text,
    published: post.status === "PUBLISHED",
    authorId: post.authorId,
    createdAt: post.createdAt.toISOString(),
    updatedAt: post.updatedAt.toISOString(),
    publishedAt: post.publishedAt?.toISOString() ?? null,
  };
}

export const version1: RestVersion = {
  projection: createProjection(1, samplePosts.map(toPostV1)),
  toJson: toPostV1,
  readNewPost: readNewPostV1,
  readPostChanges: readPostChangesV1,
};
