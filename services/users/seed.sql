-- The rows of a new database of `npm start` and of the seed job. seed.scale is 1 unless `npm start -- --scale` sets another.
-- The ids are 1, 2, … from the oldest row to the newest; the first four are the demo users. The rows cover two years up to 2026-10-31.
select setseed(0.1); -- The same scale gives the same rows.

with words as (
  select
    string_to_array('Amara Anton Asha Beatriz Bruno Carla Chen Dalia Daniel Elif Emeka Farah Felix Giulia Hanna Hiro Ines Ivan Jana Jonas', ' ') as first,
    string_to_array('Abbott Adeyemi Almeida Baker Banerjee Castro Costa Diaz Eriksen Farkas Garcia Haddad Ibrahim Ito Kaplan Kim', ' ') as last
),
drawn as (
  select n, total, random() as luck, random() as hour,
    coalesce((array['Ada Lovelace', 'Grace Hopper', 'Linus Torvalds', 'Margaret Hamilton'])[n],
      first[random(1, 20)] || ' ' || last[random(1, 16)]) as name,
    jsonb_build_object(
      'locale', (array['en-GB', 'de', 'fr', 'pt-BR', 'ja', 'sw'])[random(1, 6)],
      'timeZone', (array['Europe/London', 'Europe/Berlin', 'America/Sao_Paulo', 'Asia/Tokyo', 'Africa/Nairobi'])[random(1, 5)],
      'theme', (array['LIGHT', 'DARK', 'SYSTEM'])[random(1, 3)],
      'newsletter', random() < 0.5) as prefs
  from words, (values (1000 * current_setting('seed.scale')::int)) as size (total), generate_series(1, total) as n
)
insert into users (id, name, email, avatar_url, role, prefs, created_at)
select n, name,
  -- Random names repeat, ids do not.
  regexp_replace(lower(name), '[^a-z]+', '.', 'g') || case when n > 4 then '.' || n else '' end || '@example.org',
  case when n % 10 < 7 then 'https://avatars.example.org/' || n || '.png' end,
  coalesce((array['AUTHOR', 'EDITOR', 'READER', 'ADMIN'])[n], case when luck < 0.15 then 'AUTHOR' else 'READER' end),
  case when n % 5 > 0 then prefs end,
  date_trunc('milliseconds', timestamptz '2024-10-31 00:00:00Z' + n * interval '730 days' / total - hour * interval '1 hour')
from drawn
order by n;

-- The id of the next row follows the last one.
select setval(pg_get_serial_sequence('users', 'id'), (select max(id) from users));
