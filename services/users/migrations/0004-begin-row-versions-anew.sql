-- In a table that is emptied and seeded again, as in development, row versions repeated, so that old ETags matched other rows. So row_version
-- starts at the milliseconds of the insert and is incremented from there.
alter table users alter column row_version set default floor(extract(epoch from clock_timestamp()) * 1000);
