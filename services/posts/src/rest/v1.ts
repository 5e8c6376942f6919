import type { Post } from "../model.ts";

/** A post in version 1. */
export interface PostV1 {
  readonly id: string;
  readonly title: string;
  readonly body: string | null;
  readonly published: boolean;
  readonly authorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
}

export function toPostV1(post: Post): PostV1 {
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
