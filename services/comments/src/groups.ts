// Cache groups (RFC 9875), for both endpoints: a change invalidates the cached responses in its groups.
import { isRowId } from "@tributary/kit/postgres/row-id";
import type { RecordedChange } from "@tributary/kit/feed/outbox";
import type { FieldGroups } from "@tributary/kit/graphql/cache-metadata";
import type { ServiceCaching } from "@tributary/kit/service/service";
import type { Comment, CommentFilters } from "./model.ts";

/** The groups of a response with one comment. A malformed id has none: there is no such comment. */
export function groupsOfComment({ id }: Pick<Comment, "id">): readonly string[] {
  return isRowId(id) ? [`comments:${id}`] : [];
}

/** A list filtered by both has the post's group, which each change of a comment of the post invalidates too. */
export function groupsOfCommentList({ postId, authorId }: CommentFilters): readonly string[] {
  if (postId !== undefined) return isRowId(postId) ? [`comments:on-${postId}`] : [];
  if (authorId !== undefined) return isRowId(authorId) ? [`comments:by-${authorId}`] : [];
  return ["comments"];
}

/** A comment, or its columns in a recorded change. */
type RecordedComment = Pick<Comment, "id" | "postId" | "authorId">;

/** The groups that a change of a comment invalidates. The endpoints never change its post or its author. */
export function groupsOfCommentChange({ id, postId, authorId }: RecordedComment): readonly string[] {
  return [
    ...groupsOfComment({ id }),
    ...groupsOfCommentList({}),
    ...groupsOfCommentList({ postId }),
    ...groupsOfCommentList({ authorId }),
  ];
}

/** At both endpoints. */
export const freshSeconds = 10;

/** How long a response is still sent while the service fails, at both endpoints. */
export const staleIfErrorSeconds = 300;

const fieldGroups: FieldGroups = {
  "Query.comment": (_, { id }: { readonly id: string }) => groupsOfComment({ id }),
  "Query.comments": (_, { postId, authorId }: CommentFilters) =>
    groupsOfCommentList({ postId: postId ?? undefined, authorId: authorId ?? undefined }),
  "Comment.__resolveReference": (comment: { readonly id: string }) => groupsOfComment(comment),
  "Post.comments": ({ id }: { readonly id: string }) => groupsOfCommentList({ postId: id }),
  "Post.commentsConnection": ({ id }: { readonly id: string }) => groupsOfCommentList({ postId: id }),
  "Post.commentCount": ({ id }: { readonly id: string }) => groupsOfCommentList({ postId: id }),
  "User.comments": ({ id }: { readonly id: string }) => groupsOfCommentList({ authorId: id }),
};

/** A statement outside this service can move a comment. Undefined for an unknown kind: the feed then sends a `reset`. */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "comment") return undefined;
  const comments = [before, after].filter((row) => row !== null) as unknown as readonly RecordedComment[];
  return [...new Set(comments.flatMap(groupsOfCommentChange))];
}

export const caching: ServiceCaching = { freshSeconds, staleIfErrorSeconds, fieldGroups, groupsOfChange };
