-- What a customer's key stands for: the order it placed and all that we said about it then, so that a retry hears the same bytes.
-- Written in the transaction that places the order: there is no order without its record, and no record without its order.
create table idempotency_records (
  customer_id bigint not null,
  key text collate "C" not null check (key ~ '^[!-~]{1,255}$'),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  order_id uuid not null references orders,
  snapshot jsonb not null,
  created_at timestamptz not null default now(),
  primary key (customer_id, key)
);

-- Finds those that have expired.
create index idempotency_records_by_age on idempotency_records (created_at);
