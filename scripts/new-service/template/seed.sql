-- The rows of a new database of `npm start` and of the seed job. seed.scale is 1 unless `npm start -- --scale` sets another.
-- The ids that are used as references are those of the other services' rows; the first three authors are the demo users.
insert into spare_gadgets (/* BEGIN parent */parent_thing_id, /* END parent */author_id, title, created_at, updated_at)
select /* BEGIN parent */1 + n / 5, /* END parent */1 + n % 1000, 'Spare gadget ' || n, written, written
from generate_series(1, 1000 * current_setting('seed.scale')::int) as n,
  lateral (select timestamptz '2026-10-01 00:00:00Z' + n * interval '1 minute' as written) as moment
order by n;
