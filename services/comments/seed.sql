-- The rows of a new database of `npm start` and of the seed job. seed.scale is 1 unless `npm start -- --scale` sets another.
-- The ids are 1, 2, … from the oldest row to the newest, over two years up to 2026-10-31. Of fifty comments, the 17th is deleted.
select setseed(0.3); -- The same scale gives the same rows.

with words as (
  select array['This is exactly what I needed today.', 'I tried it, and it holds.', 'We did the same with a friend; it took longer.',
    'Do you have a drawing of the third step?', 'My father would have disagreed, and been wrong.', 'Careful with the second part: mine cracked.',
    'Thank you for writing this down.', 'I read it twice. The ending is the best part.', 'Is there a version for small hands?',
    'The photograph made me laugh.'] as remarks
),
drawn as (
  -- One comment for five posts: when it was written, a fifth of its number had been.
  select n, greatest(1, n / 5) as posts, random() as popularity, random() as luck, n % 50 = 17 as is_deleted,
    1 + floor(total / 50 * random() ^ 2) as author_id,
    -- One to three remarks.
    concat_ws(' ', remarks[1 + n % 10], case when n % 3 > 0 then remarks[1 + (n + 3) % 10] end, case when n % 3 > 1 then remarks[1 + (n + 7) % 10] end)
      as body,
    date_trunc('milliseconds', timestamptz '2024-10-31 00:00:00Z' + n * interval '730 days' / total - random() * interval '1 hour') as created_at,
    random(1, 14) * interval '1 minute' as waiting
  from words, (values (50000 * current_setting('seed.scale')::int)) as size (total), generate_series(1, total) as n
)
insert into comments (id, post_id, author_id, body, created_at, edited_at, deleted_at)
select n,
  -- Half of the comments belong to a few popular posts, half to recent ones.
  case when n % 2 = 0 then 1 + floor(posts * popularity ^ 4) else posts - floor(least(posts, 500) * popularity ^ 1.5) end,
  author_id, case when not is_deleted then body end, created_at,
  case when luck < 0.05 then created_at + waiting end, case when is_deleted then created_at + waiting end
from drawn
order by n;

-- The id of the next row follows the last one.
select setval(pg_get_serial_sequence('comments', 'id'), (select max(id) from comments));
