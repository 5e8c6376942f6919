// Whose tokens the gateway and the REST proxy reject: those of deactivated accounts. They learn it from the change feed.
import type { RecordedChange } from "@tributary/kit/feed/outbox";

/** The account whose tokens a recorded change revoked. `after` has these columns since migrations/0008-record-deactivations.sql. */
export function revokedByChange({ after }: RecordedChange): readonly string[] {
  const { id, deactivatedAt } = after ?? {};
  return id && deactivatedAt ? [id] : [];
}
