// The cache groups (RFC 9875) of the responses with users, for both endpoints. A read lists the groups of its response; a change lists the groups
// whose cached responses it invalidates.
import { isRowId } from "@tributary/kit/postgres/row-id";
import type { RecordedChange } from "@tributary/kit/feed/outbox";
import type { FieldGroups } from "@tributary/kit/graphql/cache-metadata";
import type { ServiceCaching } from "@tributary/kit/service/service";
import type { User } from "./model.ts";

/** The groups of a response with one user. A malformed id has none: there is no such user. */
export function groupsOfUser({ id }: Pick<User, "id">): readonly string[] {
  return isRowId(id) ? [`users:${id}`] : [];
}

/** The groups of a page of a list. */
export const groupsOfUserList: readonly string[] = ["users"];

/** The groups that a change of a user invalidates. */
export function groupsOfUserChange(user: Pick<User, "id">): readonly string[] {
  return [...groupsOfUserList, ...groupsOfUser(user)];
}

/** How long responses that caches may share are fresh, at both endpoints. */
export const freshSeconds = 10;

/** The groups of what each GraphQL resolver loads. The kit sends them in `extensions.cache` to a gateway that requests them. */
const fieldGroups: FieldGroups = {
  "Query.user": (_, { id }: { readonly id: string }) => groupsOfUser({ id }),
  "Query.users": () => groupsOfUserList,
  "User.__resolveReference": (user: { readonly id: string }) => groupsOfUser(user),
};

/**
 * The groups of a recorded change (migrations/0005-record-changes.sql), of the row before and after it: a statement outside this service can
 * change an id. Undefined for an unknown kind, or if the record has no id: the feed then sends a `reset`.
 */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "user") return undefined;
  const ids = [before, after].flatMap((row) => row?.["id"] ?? []);
  if (ids.length === 0) return undefined;
  return [...new Set(ids.flatMap((id) => groupsOfUserChange({ id })))];
}

export const caching: ServiceCaching = { freshSeconds, fieldGroups, groupsOfChange };
