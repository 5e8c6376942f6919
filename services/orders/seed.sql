-- The rows of a new database of `npm start` and of the seed job. seed.scale is 1 unless `npm start -- --scale` sets another.
-- The orders cover two years up to 2026-10-31. Posts with even ids, to which products belong, are published.
select setseed(0.4); -- The same scale gives the same rows.

with words as (
  select string_to_array('Bread Bicycle Garden Map Boat Clock Bee Paper Violin Kite Cheese Dye', ' ') as crafts,
    string_to_array('Handbook Almanac Calendar Print Poster Reader Workbook', ' ') as things
)
insert into products (sku, title, price_minor, currency, stock, post_id)
select 'PRINT-' || lpad(n::text, greatest(4, length(n::text)), '0'),
  format('The %s %s', crafts[random(1, 12)], things[random(1, 7)]),
  -- A yen has no minor unit. Other prices end in .99.
  case currency when 'JPY' then amount * 150 else amount * 100 - 1 end,
  currency, random(50, 500), 2 * (1 + floor(25 * total * random() ^ 1.5))
from words, (values (200 * current_setting('seed.scale')::int)) as size (total), generate_series(1, total) as n,
  lateral (select 5 + n * 37 % 60 as amount, case when n % 10 = 0 then 'JPY' when n % 7 = 0 then 'USD' else 'EUR' end as currency) as price
order by n;

create temporary table drawn_lines on commit drop as
with drawn as (
  select n, n::float / total as age, random() as luck, 1 + floor(total / 5 * random() ^ 3) as customer_id, (1 + floor(total / 25 * random() ^ 2))::int as first,
    date_trunc('milliseconds', timestamptz '2024-10-31 00:00:00Z' + n * interval '730 days' / total - random() * interval '1 hour') as placed_at
  from (values (5000 * current_setting('seed.scale')::int)) as size (total), generate_series(1, total) as n
),
numbered as (
  select sku, currency, price_minor, row_number() over (order by length(sku), sku) as number from products
),
picked as (
  select n, first as number from drawn
  union
  select n, random(1, (select count(*) from products)) from drawn, generate_series(1, 3) where random() < 0.5
)
select
  -- RFC 9562, section 5.7: 48 bits of milliseconds, the version 7, the variant 8 and random digits.
  (lpad(to_hex((extract(epoch from placed_at) * 1000)::bigint), 12, '0') || '7' || left(md5(n::text), 3) || '8' || right(md5(n::text), 15))::uuid
    as order_id,
  customer_id, placed_at, product.sku, product.currency, product.price_minor, 1 + (n + product.number) % 4 as quantity,
  case when luck < 0.04 then 'CANCELLED' when age < 0.97 then 'DELIVERED' else (array['PLACED', 'PAID', 'SHIPPED'])[1 + n % 3] end as status
from drawn
join picked using (n)
join numbered as product using (number)
-- An order has one currency.
join numbered as main on main.number = first and main.currency = product.currency;

insert into orders (id, customer_id, status, total_minor, currency, placed_at)
select order_id, customer_id, status, sum(quantity * price_minor), currency, placed_at
from drawn_lines
group by order_id, customer_id, status, currency, placed_at
order by order_id;

insert into order_lines (order_id, sku, quantity, unit_price_minor)
select order_id, sku, quantity, price_minor from drawn_lines;
