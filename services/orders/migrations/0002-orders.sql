-- Orders and their lines, with the price at the time of the order. Ids are UUIDv7: they increase with time, so "newest first" is descending id,
-- and they do not reveal the number of orders. Customers belong to another service: no constraint checks their ids.
create table orders (
  id uuid primary key default uuidv7(),
  customer_id bigint not null check (customer_id > 0),
  status text not null default 'PLACED' check (status in ('PLACED', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED')),
  total_minor integer not null check (total_minor >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  placed_at timestamptz not null default date_trunc('milliseconds', now()),
  row_version bigint not null default 1
);

-- Indexes for the lists of a customer's orders by descending id, of all and of one status.
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
