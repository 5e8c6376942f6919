// Whose tokens the gateway and the REST proxy reject: those of deactivated accounts. They learn it from the change feed.
import type { RecordedChange } from "@tributary/kit/feed/outbox";

/**
 * The account whose tokens a recorded change revoked; undefined if it was activated again, by a statement outside of this service. The rows have
 * these columns since migrations/0008-record-deactivations.sql.
 */
export function revokedByChange({ before, after }: RecordedChange): readonly string[] | undefined {
  const { id, deactivatedAt } = after ?? {};
  if (id && deactivatedAt) return [id];
  const isActiveAgain = after !== null && Boolean(before?.["deactivatedAt"]);
  return isActiveAgain ? undefined : [];
}
