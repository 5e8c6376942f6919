// Cache groups (RFC 9875), for both endpoints: a change invalidates the cached responses in its groups.
import { isRowId } from "@tributary/kit/postgres/row-id";
import type { RecordedChange } from "@tributary/kit/feed/outbox";
import type { FieldGroups } from "@tributary/kit/graphql/cache-metadata";
import type { ServiceCaching } from "@tributary/kit/service/service";
import type { PostFilters, PostState } from "./model.ts";

/** The groups of a response with one post. A malformed id has none: there is no such post. */
export function groupsOfPost({ id }: Pick<PostState, "id">): readonly string[] {
  return isRowId(id) ? [`posts:${id}`] : [];
}

/** The groups of a page of a list. A malformed author id has none: its list remains empty. */
export function groupsOfPostList({ authorId }: Pick<PostFilters, "authorId">): readonly string[] {
  if (authorId === undefined) return ["posts"];
  return isRowId(authorId) ? [`posts:by-${authorId}`] : [];
}

/** A post, or its columns in a recorded change. */
type RecordedPost = Omit<PostState, "rowVersion">;

/**
 * The groups that a change invalidates. @param states the post before and after the change. An unpublished or missing post adds no group.
 */
export function groupsOfPostChange(...states: readonly (RecordedPost | undefined)[]): readonly string[] {
  const groups = new Set<string>();
  for (const post of states) {
    if (post?.status !== "PUBLISHED") continue;
    const groupsOfState = [...groupsOfPost(post), ...groupsOfPostList({}), ...groupsOfPostList(post)];
    for (const group of groupsOfState) groups.add(group);
  }
  return [...groups];
}

/** At both endpoints. */
export const freshSeconds = 10;

/** How long a response is still sent while the service fails, at both endpoints. */
export const staleIfErrorSeconds = 300;

const fieldGroups: FieldGroups = {
  "Query.post": (_, { id }: { readonly id: string }) => groupsOfPost({ id }),
  "Query.posts": (_, filters: Pick<PostFilters, "authorId">) =>
    groupsOfPostList({ authorId: filters.authorId ?? undefined }),
  "Post.__resolveReference": (post: { readonly id: string }) => groupsOfPost(post),
  "User.posts": ({ id }: { readonly id: string }) => groupsOfPostList({ authorId: id }),
  "User.postsConnection": ({ id }: { readonly id: string }) => groupsOfPostList({ authorId: id }),
};

/** The groups of a recorded change (migrations/0004-record-changes.sql). Undefined for an unknown kind: the feed then sends a `reset`. */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "post") return undefined;
  return groupsOfPostChange(toRecordedPost(before), toRecordedPost(after));
}

function toRecordedPost(row: RecordedChange["before"]): RecordedPost | undefined {
  return row === null ? undefined : (row as unknown as RecordedPost);
}

export const caching: ServiceCaching = { freshSeconds, staleIfErrorSeconds, fieldGroups, groupsOfChange };
