-- The catalogue is in the orders database, because the transaction that places an order checks prices and stock. A constraint keeps the stock
-- from becoming negative. Skus have the collation "C", so that lists, cursors and the locking order are the same on every machine.
create table products (
  sku text collate "C" primary key check (sku ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  title text not null check (char_length(title) between 1 and 200),
  price_minor integer not null check (price_minor >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  stock integer not null check (stock >= 0),
  post_id bigint check (post_id > 0),
  row_version bigint not null default 1
);

create function move_row_version() returns trigger language plpgsql as $$
begin
  new.row_version := old.row_version + 1;
  return new;
end
$$;

create trigger products_row_version before update on products for each row execute function move_row_version();
