// Cache groups (RFC 9875): a change invalidates the cached responses that have one of its groups.
import { isRowId } from "@tributary/kit/postgres/row-id";
import type { RecordedChange } from "@tributary/kit/feed/outbox";
import type { FieldGroups } from "@tributary/kit/graphql/cache-metadata";
import { nameGroup } from "@tributary/kit/rest/caching";
import type { ServiceCaching } from "@tributary/kit/service/service";
// BEGIN parent
import type { SpareGadgetFilters } from "./model.ts";
// END parent

/** The columns of a row that a recorded change contains (migrations/0002-record-changes.sql). */
interface RecordedRow {
  readonly id: string;
  // BEGIN parent
  readonly parentThingId: string;
  // END parent
}

export function groupsOfOne({ id }: { readonly id: string }): readonly string[] {
  return isRowId(id) ? [nameGroup("gadget-shop:", id)] : [];
}

// BEGIN parent
/** A malformed id has no group: its list remains empty. */
export function groupsOfList({ parentThingId }: SpareGadgetFilters = {}): readonly string[] {
  if (parentThingId !== undefined) return isRowId(parentThingId) ? [nameGroup("gadget-shop:on-", parentThingId)] : [];
  return ["gadget-shop"];
}
// END parent
// ALONE /** The groups of a page of the list. */
// ALONE export function groupsOfList(): readonly string[] {
// ALONE   return ["gadget-shop"];
// ALONE }

export function groupsOfWrite(row: RecordedRow): readonly string[] {
  return [
    ...groupsOfOne(row),
    ...groupsOfList(),
    // BEGIN parent
    ...groupsOfList({ parentThingId: row.parentThingId }),
    // END parent
  ];
}

export const freshSeconds = 10;

/** How long a response is still sent while the service fails, at both endpoints. */
export const staleIfErrorSeconds = 300;

/** The kit sends them in `extensions.cache` to a gateway that requests them. */
const fieldGroups: FieldGroups = {
  "Query.spareGadget": (_, { id }: { readonly id: string }) => groupsOfOne({ id }),
  // BEGIN parent
  "Query.spareGadgets": (_, { parentThingId }: { readonly parentThingId?: string | null }) =>
    groupsOfList({ parentThingId: parentThingId ?? undefined }),
  "ParentThing.spareGadgets": ({ id }: { readonly id: string }) => groupsOfList({ parentThingId: id }),
  // END parent
  // ALONE "Query.spareGadgets": () => groupsOfList(),
  "SpareGadget.__resolveReference": (reference: { readonly id: string }) => groupsOfOne(reference),
};

/** Of the row before and after the change. Undefined for an unknown kind: the feed then sends a `reset`. */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "spare gadget") return undefined;
  const rows = [before, after].filter((row) => row !== null) as unknown as readonly RecordedRow[];
  return [...new Set(rows.flatMap(groupsOfWrite))];
}

export const caching: ServiceCaching = { freshSeconds, staleIfErrorSeconds, fieldGroups, groupsOfChange };
