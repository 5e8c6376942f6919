// Cache groups (RFC 9875), for both endpoints: a change invalidates the cached responses in its groups.
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

/** At both endpoints. */
export const freshSeconds = 10;

/** How long a response is still sent while the service fails, at both endpoints: so long a deactivated account may be shown. */
export const staleIfErrorSeconds = 60;

const fieldGroups: FieldGroups = {
  "Query.user": (_, { id }: { readonly id: string }) => groupsOfUser({ id }),
  "Query.users": () => groupsOfUserList,
  "User.__resolveReference": (user: { readonly id: string }) => groupsOfUser(user),
};

/** A statement outside this service can change an id. Undefined for an unknown kind, or without an id: the feed then sends a `reset`. */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "user") return undefined;
  const ids = [before, after].flatMap((row) => row?.["id"] ?? []);
  if (ids.length === 0) return undefined;
  return [...new Set(ids.flatMap((id) => groupsOfUserChange({ id })))];
}

export const caching: ServiceCaching = { freshSeconds, staleIfErrorSeconds, fieldGroups, groupsOfChange };
