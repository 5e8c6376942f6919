-- A table that is emptied and loaded anew, as development's are, had the same row versions once more, so that old ETags named other rows.
-- A row begins with the milliseconds of its making, and each change counts on from there: no two loads have a version in common.
alter table products alter column row_version set default floor(extract(epoch from clock_timestamp()) * 1000);
alter table orders alter column row_version set default floor(extract(epoch from clock_timestamp()) * 1000);
