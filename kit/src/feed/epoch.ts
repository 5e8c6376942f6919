/** The first statement of each session that writes: begins a new epoch if necessary. See migrations/0003-lost-ids.sql. */
export const ensureEpochSql = "select ensure_epoch()::text as epoch";
