-- Orders and what was bought, at the price it had. Ids are UUIDv7: they rise with time, so "newest first" is "by id, going down",
-- and they give no count away. A customer is a user of another service: no reference holds them, and no row here needs theirs.
create table orders (
  id uuid primary key default uuidv7(),
  customer_id bigint not null check (customer_id > 0),
  status text not null default 'PLACED' check (status in ('PLACED', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED')),
  total_minor integer not null check (total_minor >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  placed_at timestamptz not null default date_trunc('milliseconds', now()),
  row_version bigint not null default 1
);

-- The list: a customer's orders by id, going down; with a status, the same within it.
create index orders_by_customer on orders (customer_id, id desc);
create index orders_by_customer_and_status on orders (customer_id, status, id desc);

create trigger orders_row_version before update on orders for each row execute function move_row_version();

create table order_lines (
  order_id uuid not null references orders,
  sku text collate "C" not null references products,
  quantity smallint not null check (quantity between 1 and 99),
  unit_price_minor integer not null check (unit_price_minor >= 0),
  primary key (order_id, sku)
);
