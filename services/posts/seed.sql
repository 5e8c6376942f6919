-- The rows of a new database of `npm start` and of the seed job. seed.scale is 1 unless `npm start -- --scale` sets another.
-- The ids are 1, 2, … from the oldest row to the newest, over two years up to 2026-10-31. The last two digits of the id decide whether a post is a
-- draft or archived; posts with even ids are published.
select setseed(0.2); -- The same scale gives the same rows.

with words as (
  select
    array['bread', 'bicycles', 'gardens', 'old maps', 'small boats', 'clocks', 'bees', 'paper', 'violins', 'kites', 'cheese', 'dyes'] as crafts,
    array['the harbour', 'a northern village', 'the allotments', 'the night train', 'an island', 'the old library', 'a city roof', 'a school cellar']
      as settings,
    array['What %s taught me about patience', 'A year of %s in %s', 'Mending %s: notes from %s', 'The quiet economics of %s',
      'On %s, for people who have no time', 'Seven mistakes with %s, and one that I would make again', 'With %s: letters from %s'] as titles,
    array['Last spring', 'For a long time', 'On most mornings', 'Before the rain came', 'In the first week', 'As so often'] as openings,
    array['my neighbour', 'an apprentice', 'the whole street', 'a retired engineer', 'my sister', 'half the village'] as actors,
    array['took the whole thing apart', 'kept a careful list', 'asked the right question', 'measured everything twice', 'gave up too early'] as deeds,
    array['and it changed how I work', 'although it cost a day', 'because there was no other way', 'and the result still stands'] as turns
),
drawn as (
  select n, total, random(1, 48) * interval '1 hour' as waiting,
    -- Low numbers are more frequent: some users write most of the posts.
    1 + floor(total / 10 * random() ^ 3) as author_id,
    format(titles[random(1, 7)], crafts[random(1, 12)], settings[random(1, 8)]) as title,
    -- Six to twenty-five sentences, in paragraphs of five.
    (select string_agg(format('%s %s %s, %s.', openings[random(1, 6)], actors[random(1, 6)], deeds[random(1, 5)], turns[random(1, 4)]),
      case when i % 5 = 1 then E'\n\n' else ' ' end order by i) from generate_series(1, 6 + n * 7 % 20) as i) as body,
    case when n % 100 in (13, 37, 61, 89) then 'DRAFT' when n % 100 in (7, 43, 97) then 'ARCHIVED' else 'PUBLISHED' end as status,
    date_trunc('milliseconds', timestamptz '2024-10-31 00:00:00Z' + n * interval '730 days' / total - random() * interval '1 hour') as created_at
  from words, (values (10000 * current_setting('seed.scale')::int)) as size (total), generate_series(1, total) as n
)
insert into posts (id, author_id, title, body, status, created_at, updated_at, published_at)
select n, author_id, title, body, status, created_at, coalesce(published_at, created_at), published_at
from drawn, lateral (select case when status <> 'DRAFT' then created_at + waiting end as published_at) as publication
order by n;

-- The id of the next row follows the last one.
select setval(pg_get_serial_sequence('posts', 'id'), (select max(id) from posts));
