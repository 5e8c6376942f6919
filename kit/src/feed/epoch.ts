/** The first statement of each session that writes: begins a new epoch if necessary. See migrations/0004-forget-former-changes.sql. */
export const ensureEpochSql = "select ensure_epoch()::text as epoch";
