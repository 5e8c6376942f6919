/** Returns the epoch of the database, or begins a new one: the first statement of each session that writes. See migrations/0003-lost-ids.sql. */
export const ensureEpochSql = "select ensure_epoch()::text as epoch";
